import type { ResourceRow } from '@longwave/command-pipeline';
import type { RpcClient } from '@longwave/rpc';
import type { LedgerServiceService } from '@longwave/rpc/audience';
import { goalBasis } from '../../advertising/line-items/count-confirmed.ts';

export type LedgerClient = RpcClient<typeof LedgerServiceService>;

/** Units of a line item and creative that our ledger has in one hour of UTC. */
interface LedgerHour {
  readonly lineItemId: string;
  readonly creativeId: string;
  readonly hourMs: number;
  readonly units: number;
}

/** Units that earlier reconciliations have added to a line item's day, or taken from it. */
interface EarlierAdjustment {
  readonly lineItemId: string;
  readonly day: string;
  readonly quantity: number;
}

/** Our side: the ledger and its adjustments. */
export interface Ledger {
  readonly hours: readonly LedgerHour[];
  readonly adjustments: readonly EarlierAdjustment[];
}

/** The longest that the hours of one basis may take to be read. */
const readMs = 300_000;

/** What a line item is charged for: completed plays where they are paid for, else what its goal counts. */
export const basisOf = ({ attributes }: Pick<ResourceRow<'line_items'>, 'attributes'>): string =>
  attributes.rate.model === 'cpcv' ? 'completes' : goalBasis(attributes);

/**
 * Reads hours of line items, each in its own basis. Throws `temporarily_unavailable` for times that the sink does not answer for yet.
 * @param range.knownAtMs the hours as they were known then; equal times give equal answers
 */
export async function readHours(
  ledger: Pick<LedgerClient, 'readHours'>,
  workspaceId: string,
  lineItems: readonly ResourceRow<'line_items'>[],
  range: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly knownAtMs: number;
  },
  signal: AbortSignal,
): Promise<Ledger['hours']> {
  const knownAtMs = BigInt(range.knownAtMs);
  const hours: LedgerHour[] = [];
  for (const [countingBasis, group] of Map.groupBy(lineItems, basisOf)) {
    const lineItemIds = group.map(({ id }) => id);
    const messages = ledger.readHours(
      {
        ...{ workspaceId, lineItemIds, countingBasis, knownAtMs },
        range: { fromMs: BigInt(range.fromMs), toMs: BigInt(range.toMs) },
      },
      { deadlineMs: readMs, signal },
    );
    for await (const message of messages)
      for (const { lineItemId, creativeId, hourMs, units } of message.hours)
        hours.push({ lineItemId, creativeId, hourMs: Number(hourMs), units: Number(units) });
  }
  return hours;
}
