import type { RpcClient } from '@longwave/rpc';
import type { LedgerServiceService } from '@longwave/rpc/audience';

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
  /** Date in the zone. */
  readonly day: string;
  readonly timeZone: string;
  readonly quantity: number;
}

/** Our side: the ledger and its adjustments. */
export interface Ledger {
  readonly hours: readonly LedgerHour[];
  readonly adjustments: readonly EarlierAdjustment[];
}

/** The most hours of a reconciliation; all of them are in memory. */
const maxHours = 2_000_000;

/** Thrown for more hours than a reconciliation has. */
export class TooManyHours extends Error {}

/** The longest that the hours of one basis may take to be read. */
const readMs = 300_000;

/**
 * Reads hours of line items, each in its own basis. Throws `temporarily_unavailable` for times that the sink does not answer for yet,
 * `TooManyHours` before they are all in memory.
 * @param bases what each line item is counted by
 * @param range.knownAtMs the hours as they were known then; equal times give equal answers
 */
export async function readHours(
  ledger: Pick<LedgerClient, 'readHours'>,
  workspaceId: string,
  bases: ReadonlyMap<string, string>,
  range: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly knownAtMs: number;
  },
  signal: AbortSignal,
): Promise<Ledger['hours']> {
  const knownAtMs = BigInt(range.knownAtMs);
  const hours: LedgerHour[] = [];
  for (const [countingBasis, group] of Map.groupBy(bases, ([, basis]) => basis)) {
    const lineItemIds = group.map(([id]) => id);
    const messages = ledger.readHours(
      {
        ...{ workspaceId, lineItemIds, countingBasis, knownAtMs },
        range: { fromMs: BigInt(range.fromMs), toMs: BigInt(range.toMs) },
      },
      { deadlineMs: readMs, signal },
    );
    for await (const message of messages) {
      for (const { lineItemId, creativeId, hourMs, units } of message.hours)
        hours.push({ lineItemId, creativeId, hourMs: Number(hourMs), units: Number(units) });
      if (hours.length > maxHours) throw new TooManyHours();
    }
  }
  return hours;
}
