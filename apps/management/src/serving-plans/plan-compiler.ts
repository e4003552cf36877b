import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { listInStates, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import { transaction, type Pool } from '@longwave/postgres';
import canonicalize from 'canonicalize';
import { claimJob, releaseLease, type ClaimedJob } from '../jobs/job-table.ts';
import { compilePlan } from './compile-plan.ts';

export interface PlanCompiler extends AsyncDisposable {
  wake(): void;
}

/** Far longer than any compile takes; the work is in this process, so a lease only matters after a crash. */
const compileLeaseMs = 120_000;
const attemptsMax = 60;

/** Compiles requested serving plans, one at a time, under a lease like any other worker. */
export function startPlanCompiler(options: {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
  readonly onError: (error: unknown) => void;
}): PlanCompiler {
  const { pool, store, execute } = options;
  const stopping = new AbortController();
  let nap = new AbortController();

  async function compile(job: ClaimedJob): Promise<void> {
    const { effective_from: effectiveFrom } = job.input as { effective_from: string };
    const list = (tx: Parameters<Parameters<typeof transaction>[1]>[0], type: string, states: readonly string[]) =>
      listInStates(tx, job.workspace_id, type, states);
    // One snapshot: the plan is what was true at one moment.
    const plan = await transaction(
      pool,
      async (tx) =>
        compilePlan(job.workspace_id, effectiveFrom, {
          lineItems: await list(tx, 'line_items', ['booked', 'delivering']),
          campaigns: await list(tx, 'campaigns', ['active']),
          assignments: await list(tx, 'creative_assignments', ['active']),
          creatives: await list(tx, 'creatives', ['approved']),
        }),
      'REPEATABLE READ',
    );
    const bytes = Buffer.from(canonicalize(plan)!);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const storageKey = `plans/${digest}.json`;
    await store.put(storageKey, bytes, { contentType: 'application/json', sizeBytes: bytes.length });
    await report(job, 'serving_plan.record_compiled', {
      storage_key: storageKey,
      digest,
      counts: {
        line_items: plan.line_items.length,
        creatives: plan.line_items.reduce((n, li) => n + li.creatives.length, 0),
      },
    });
  }

  const report = (job: ClaimedJob, commandType: string, changes: unknown) =>
    execute(
      {
        workspaceId: job.workspace_id,
        commandType,
        idempotencyKey: `${job.id}:${job.lease_id}`,
        subject: { type: 'serving_plans', id: job.subject_id },
        changes,
        reason: { job_id: job.id, lease_id: job.lease_id },
      },
      { kind: 'service', name: 'management' },
    );

  /** Compiles, or frees the job for the next try; after the last one the plan fails, so that nobody waits for ever. */
  async function work(job: ClaimedJob): Promise<void> {
    try {
      if (job.attempt <= attemptsMax) return await compile(job);
    } catch (error) {
      await releaseLease(pool, job.id, job.lease_id);
      throw error;
    }
    const detail = 'The plan could not be compiled. Request another one.';
    await report(job, 'serving_plan.fail', { problem: { code: 'compile_failed', detail } });
  }

  const running = (async () => {
    while (!stopping.signal.aborted) {
      try {
        const job = await claimJob(pool, ['compile_serving_plan'], 'management', compileLeaseMs);
        if (job) {
          await work(job);
          continue;
        }
      } catch (error) {
        options.onError(error);
      }
      nap = new AbortController();
      await wait(1000, undefined, { signal: AbortSignal.any([nap.signal, stopping.signal]) }).catch(() => undefined);
    }
  })();

  return {
    wake: () => nap.abort(),
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await running;
    },
  };
}
