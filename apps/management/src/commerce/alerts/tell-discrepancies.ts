import type { Pool } from '@longwave/postgres';
import type { AlertFinding } from '@longwave/rpc/serving';
import type { Logger } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import {
  listDiscrepancies,
  listInReview,
  listReconcilingWorkspaces,
  type Discrepancy,
} from '../reconciliations/item-table.ts';
import { createTellFindings, type FindingsClient } from './tell-findings.ts';

interface Deps {
  readonly pool: Pool;
  readonly serving: FindingsClient;
  readonly clock: () => Date;
  readonly logger: Pick<Logger, 'warn'>;
}

/** As often as alerts are judged. */
const everyMs = 300_000;

const differenceOf = ({ ours, theirs }: Discrepancy) => Math.abs(ours - theirs);

/**
 * Everybody who sees the line item reads it, so the numbers of the source stay in the reconciliation. Adjustments of a whole period may leave its last days
 * below zero; an alert counts units.
 */
const findingOf = (one: Discrepancy): AlertFinding => ({
  lineItemId: one.lineItemId,
  units: Math.max(0, one.ours),
  detailJson: JSON.stringify({
    discrepancy: {
      ...{ reconciliation_id: one.reconciliationId, source: one.source, days: one.days },
    },
  }),
});

/** What is found of a line item in several reconciliations is told of the one that differs most. */
function largestOf(found: readonly Discrepancy[]): readonly Discrepancy[] {
  const sorted = found.toSorted(
    (a, b) => differenceOf(b) - differenceOf(a) || (a.reconciliationId < b.reconciliationId ? -1 : 1),
  );
  return [...Map.groupBy(sorted, ({ lineItemId }) => lineItemId).values()].map(([largest]) => largest!);
}

/** Reads what sources differ about; a reconciliation whose version is the one that was read last is not read again. */
function createReading(pool: Pool) {
  const read = new Map<string, { readonly version: number; readonly found: readonly Discrepancy[] }>();
  return {
    read: async ({ id, version }: { readonly id: string; readonly version: number }) => {
      const before = read.get(id);
      if (before?.version === version) return before.found;
      const found = await listDiscrepancies(pool, id);
      read.set(id, { version, found });
      return found;
    },
    /** Forgets all but these. */
    keep: (ids: ReadonlySet<string>) => {
      for (const id of read.keys()) if (!ids.has(id)) read.delete(id);
    },
  };
}

/**
 * Tells internal-serving, which raises alerts, what sources differ about, of each workspace where that has changed. What this process does not
 * know yet is read and told at its first look, and everything is told anew each hour.
 */
export function createTellDiscrepancies({ pool, serving, clock, logger }: Deps): () => Promise<void> {
  const listWorkspaces = () => listReconcilingWorkspaces(pool);
  const { tellEach, listWorkspaceIds } = createTellFindings(serving, {
    ...{ kind: 'discrepancy', listWorkspaces },
    onError: (err, workspaceId) => logger.warn({ err, workspace_id: workspaceId }, 'discrepancies.not_told'),
  });
  const reading = createReading(pool);
  return async () => {
    const asOf = clock();
    const others = await listWorkspaceIds(asOf);
    const inReview = await listInReview(pool);
    reading.keep(new Set(inReview.map(({ id }) => id)));
    const byWorkspace = Map.groupBy(inReview, ({ workspace_id: id }) => id);
    const find = async (workspaceId: string) => {
      const found: Discrepancy[] = [];
      for (const one of byWorkspace.get(workspaceId) ?? []) found.push(...(await reading.read(one)));
      return largestOf(found).map(findingOf);
    };
    await tellEach([...byWorkspace.keys(), ...others], find, asOf);
  };
}

/** Tells of discrepancies until it is disposed. Several processes may do so at once: the newest numbers stay. */
export const startDiscrepancies = (options: Deps): AsyncDisposable => {
  const tell = createTellDiscrepancies(options);
  return pollLoop({
    everyMs,
    run: async () => {
      await tell();
      return false;
    },
    onError: (error) => options.logger.warn({ err: error }, 'discrepancies.not_told'),
  });
};
