import type { Pool } from '@longwave/postgres';
import type { RpcClient } from '@longwave/rpc';
import type { PacingServiceService } from '@longwave/rpc/serving';
import type { Logger } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import { listDiscrepancies, type Discrepancy } from '../reconciliations/item-table.ts';

interface Deps {
  readonly pool: Pool;
  readonly serving: Pick<RpcClient<typeof PacingServiceService>, 'putFindings'>;
  readonly clock: () => Date;
}

const answerMs = 10_000;
/** As often as alerts are judged. */
const everyMs = 300_000;
/** Findings of one workspace; those with the largest differences. */
const maxFindings = 10_000;

const differenceOf = ({ ours, theirs }: Discrepancy) => Math.abs(ours - theirs);

/** Whoever sees the line item reads it, so what the source says stays in the reconciliation. */
const findingOf = (one: Discrepancy) => ({
  lineItemId: one.lineItemId,
  units: one.ours,
  detailJson: JSON.stringify({
    discrepancy: {
      ...{ reconciliation_id: one.reconciliationId, source: one.source, days: one.days },
    },
  }),
});

/** Tells internal-serving, which raises alerts, what sources differ about, of each workspace where that has changed. */
export function createTellDiscrepancies({ pool, serving, clock }: Deps): () => Promise<void> {
  /** What this process told last, by workspace. */
  const told = new Map<string, string>();
  return async () => {
    const asOfMs = BigInt(clock().getTime());
    for (const [workspaceId, found] of await listDiscrepancies(pool)) {
      const content = JSON.stringify(found);
      if (told.get(workspaceId) === content) continue;
      const findings = found.toSorted((a, b) => differenceOf(b) - differenceOf(a)).slice(0, maxFindings);
      const request = { workspaceId, kind: 'discrepancy', asOfMs, findings: findings.map(findingOf) };
      await serving.putFindings(request, { deadlineMs: answerMs });
      told.set(workspaceId, content);
    }
  };
}

/** Tells of discrepancies until it is disposed. Several processes may do so at once: the newest numbers stay. */
export const startDiscrepancies = (options: Deps & { readonly logger: Logger }): AsyncDisposable => {
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
