import type { ResourceRow } from '@longwave/command-pipeline';
import type { RpcClient } from '@longwave/rpc';
import type { LedgerServiceService } from '@longwave/rpc/audience';
import { basisOf } from '../reconciliations/read-ledger.ts';

/** What a line item has delivered: servings that reached its counting basis, each once, and what closed reconciliations have adjusted. */
export interface Delivered {
  readonly confirmed: number;
  readonly adjusted: number;
}

/** Asks the ledger what a line item has delivered so far. Throws `temporarily_unavailable` when the sink does not answer. */
export type MeasureDelivery = (workspaceId: string, lineItem: ResourceRow<'line_items'>) => Promise<Delivered>;

const deadlineMs = 5_000;

/** The one place at which makegoods learn numbers of delivery. */
export const createMeasureDelivery =
  (
    { readUnits, listAdjustments }: Pick<RpcClient<typeof LedgerServiceService>, 'readUnits' | 'listAdjustments'>,
    clock: () => Date,
  ): MeasureDelivery =>
  async (workspaceId, lineItem) => {
    const nowMs = BigInt(clock().getTime());
    const question = { workspaceId, lineItemId: lineItem.id, countingBasis: basisOf(lineItem) };
    const { units } = await readUnits(
      { ...question, untilMs: nowMs, knownAtMs: nowMs, decidedBoundsMs: [] },
      { deadlineMs },
    );
    const { adjustments } = await listAdjustments(
      { workspaceId, lineItemIds: [lineItem.id], knownAtMs: nowMs },
      { deadlineMs },
    );
    return {
      confirmed: Number(units[0] ?? 0n),
      adjusted: adjustments.reduce((sum, { quantity }) => sum + Number(quantity), 0),
    };
  };
