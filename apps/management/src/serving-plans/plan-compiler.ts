import { createHash } from 'node:crypto';
import { listInStates, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import { transaction, type Pool } from '@longwave/postgres';
import canonicalize from 'canonicalize';
import type { Work } from '../jobs/job-runner.ts';
import { compilePlan } from './compile-plan.ts';

/** Compiles a requested serving plan and stores it under its digest. */
export const createCompileWork = ({
  pool,
  store,
  execute,
}: {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
}): Work => ({
  attemptsMax: 60,
  fail: {
    commandType: 'serving_plan.fail',
    problem: { code: 'compile_failed', detail: 'The plan could not be compiled. Request another one.' },
  },
  run: async (job) => {
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
    await execute(
      {
        workspaceId: job.workspace_id,
        commandType: 'serving_plan.record_compiled',
        idempotencyKey: `${job.id}:${job.lease_id}`,
        subject: { type: 'serving_plans', id: job.subject_id },
        changes: {
          storage_key: storageKey,
          digest,
          counts: {
            line_items: plan.line_items.length,
            creatives: plan.line_items.reduce((n, li) => n + li.creatives.length, 0),
          },
        },
        reason: { job_id: job.id, lease_id: job.lease_id },
      },
      { kind: 'service', name: 'management' },
    );
  },
});
