import type { Actor } from '@longwave/command-pipeline';
import { findResource, type ResourceRow } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import type { Adjustment, EvidenceRow, KnownServing } from '@longwave/rpc/audience';
import { Problem } from '@longwave/problems';
import { claimJob, type ClaimedJob } from '../src/background/job-table.ts';
import { createCloseHandler } from '../src/commerce/reconciliations/close-reconciliation.ts';
import { createListItems } from '../src/commerce/reconciliations/item-table.ts';
import {
  createMatchHandler,
  type ReconciliationOptions,
} from '../src/commerce/reconciliations/match-reconciliation.ts';
import type { TestManagement } from './_management.ts';
import type { World } from './_world.ts';

const running = new AbortController().signal;

/** Facts are counted up to so long ago. */
const lagMs = 600_000;

/**
 * A ledger of the sink: hours that the test sets, and adjustments of which each item is kept once. As the sink, it answers only for times that
 * are complete.
 */
export function createTestLedger(clock: () => Date) {
  const hours: { lineItemId: string; creativeId: string; hourMs: bigint; units: bigint; recordedAtMs: number }[] = [];
  const adjustments = new Map<string, Adjustment>();
  const asked: { readonly countingBasis: string; readonly lineItemIds: readonly string[] }[] = [];
  const counts = { posts: 0 };
  const servings = new Map<string, KnownServing>();
  const requireKnown = (knownAtMs: bigint) => {
    if (Number(knownAtMs) >= clock().getTime() - lagMs + 1) throw new Problem('temporarily_unavailable');
  };
  const ledger: ReconciliationOptions['ledger'] = {
    readUnits: async () => ({
      ...{ units: [0n], completeUntilMs: BigInt(clock().getTime() - lagMs), methodologyVersion: '', listsVersion: '' },
    }),
    readHours: async function* ({ lineItemIds, range, countingBasis, knownAtMs }) {
      requireKnown(knownAtMs);
      asked.push({ countingBasis, lineItemIds });
      yield {
        hours: hours.filter(
          ({ lineItemId, hourMs, recordedAtMs }) =>
            recordedAtMs <= Number(knownAtMs) &&
            lineItemIds.includes(lineItemId) &&
            hourMs >= range!.fromMs &&
            hourMs < range!.toMs,
        ),
      };
    },
    readServings: async ({ servingIds, knownAtMs }) => {
      requireKnown(knownAtMs);
      return { servings: servingIds.flatMap((id) => servings.get(id) ?? []) };
    },
    postAdjustments: async ({ reconciliationId, adjustments: sent }) => {
      counts.posts += 1;
      let posted = 0;
      for (const one of sent) {
        if (one.reconciliationId !== '' || one.recordedAtMs !== 0n) throw new Problem('validation_failed');
        const key = `${reconciliationId} ${one.itemId}`;
        if (adjustments.has(key)) continue;
        adjustments.set(key, { ...one, reconciliationId, recordedAtMs: BigInt(clock().getTime()) });
        posted += 1;
      }
      return { posted };
    },
  };
  return {
    ledger,
    adjustments,
    asked,
    counts,
    /** Servings by their ids, those without an hour have no unit. */
    servings,
    /** Adds units in an hour of UTC, `2026-10-01T05`; known before everything else, or since `recordedAtMs`. */
    count: (lineItemId: string, hour: string, units: number, recordedAtMs = 0) =>
      void hours.push({
        ...{ lineItemId, creativeId: 'crv_1', hourMs: BigInt(Date.parse(`${hour}:00:00Z`)) },
        ...{ units: BigInt(units), recordedAtMs },
      }),
  };
}

export type TestLedger = ReturnType<typeof createTestLedger>;

/** Runs the jobs of reconciliations and reads what they left. */
export function createReconciling(management: TestManagement) {
  const { pool, clock } = management;
  const listItems = createListItems(pool);
  const evidence = new Map<string, readonly EvidenceRow[]>();

  /** Claims jobs until one is of the reconciliation; the others were left by earlier tests. */
  async function claim(kind: string, id: string): Promise<ClaimedJob> {
    for (;;) {
      const job = await claimJob(pool, [kind], 'test', 600_000);
      if (!job) throw new Error(`no ${kind} of ${id}`);
      if (job.subject_id === id) return job;
    }
  }
  const optionsOf = ({ ledger }: Pick<TestLedger, 'ledger'>): ReconciliationOptions => ({
    ...management,
    ledger,
    listEvidenceRows: async ({ evidenceId, firstRow, limit }) => ({
      rows: (evidence.get(evidenceId) ?? []).slice(firstRow, firstRow + limit),
    }),
  });
  const find = async (w: World, id: string): Promise<ResourceRow<'reconciliations'>> =>
    (await findResource(pool, w.workspaceId, 'reconciliations', id))!;

  return {
    evidence,
    claim,
    optionsOf,
    find,
    match: async (w: World, id: string, ledger: TestLedger) => {
      // Closing asks it until when facts are counted.
      management.ledger.completeUntil = new Date(clock().getTime() - lagMs);
      await createMatchHandler(optionsOf(ledger)).run(await claim('match_reconciliation', id), running);
      return find(w, id);
    },
    close: async (w: World, id: string, ledger: TestLedger) => {
      await createCloseHandler(optionsOf(ledger)).run(await claim('close_reconciliation', id), running);
      return find(w, id);
    },
    items: (id: string) => listItems(id, { after: 0, limit: 10_000 }),
    /** Approves the waiting command of a reconciliation by these people, and carries it out. */
    approve: async (w: World, id: string, ...people: readonly Actor[]) => {
      let task: ResourceView = await w.taskOf(id);
      for (const one of people) task = await w.send('review.approve', task, {}, one);
      await management.runApproved(w.workspaceId, task.id);
    },
  };
}
