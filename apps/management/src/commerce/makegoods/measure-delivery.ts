import type { ResourceRow } from '@longwave/command-pipeline';
import type { RpcClient } from '@longwave/rpc';
import type { LedgerServiceService } from '@longwave/rpc/audience';
import { readWatermark } from '../billing/read-ledger.ts';
import { goalBasis, type CountConfirmed } from '../../advertising/line-items/count-confirmed.ts';

/** What a line item has delivered: servings that reached what its goal counts, each once, and what closed reconciliations have adjusted. */
export interface Delivered {
  readonly confirmed: number;
  readonly adjusted: number;
}

/** Asks the sink what a line item has delivered so far. Throws `temporarily_unavailable` when it does not answer. */
export type MeasureDelivery = (workspaceId: string, lineItem: ResourceRow<'line_items'>) => Promise<Delivered>;

/** The one place at which makegoods learn numbers of delivery. Adjustments count as they were known at the watermark of the ledger. */
export const createMeasureDelivery =
  ({
    countConfirmed,
    ledger,
  }: {
    readonly countConfirmed: CountConfirmed;
    readonly ledger: Pick<RpcClient<typeof LedgerServiceService>, 'readUnits' | 'listAdjustments'>;
  }): MeasureDelivery =>
  async (workspaceId, { id, attributes }) => {
    const basis = goalBasis(attributes);
    const confirmed = await countConfirmed(workspaceId, id, basis);
    const knownAtMs = BigInt((await readWatermark(ledger, workspaceId, id)).getTime());
    const { adjustments } = await ledger.listAdjustments(
      { workspaceId, lineItemIds: [id], knownAtMs },
      { deadlineMs: 5_000 },
    );
    const ofBasis = adjustments.filter(({ countingBasis }) => countingBasis === basis);
    return { confirmed, adjusted: ofBasis.reduce((sum, { quantity }) => sum + Number(quantity), 0) };
  };
