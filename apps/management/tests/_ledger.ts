import { Problem } from '@longwave/problems';
import type { Adjustment } from '@longwave/rpc/audience';
import type { Ledger } from '../src/commerce/billing/read-ledger.ts';

/** Servings of a line item that reached their basis, once each. */
export interface LedgerEntry {
  readonly lineItemId: string;
  readonly decidedAt: Date;
  readonly deliveredAt: Date;
  readonly recordedAt: Date;
  /** Negative for what a restatement takes away. */
  readonly units: number;
  /** Default `ad_delivered`. */
  readonly basis?: string;
}

/** A stand-in for the ledger of analytics-sink: entries with three times, and adjustments. */
export function createFakeLedger(clock: () => Date) {
  const entries: LedgerEntry[] = [];
  const adjustments: Adjustment[] = [];
  const times: { completeUntil: Date | undefined } = { completeUntil: undefined };
  return {
    entries,
    adjustments,
    /** Until when deliveries are counted; undefined: until now. */
    set completeUntil(at: Date | undefined) {
      times.completeUntil = at;
    },
    readUnits: (async ({ lineItemId, countingBasis, untilMs, knownAtMs, decidedBoundsMs }) => {
      const completeUntilMs = BigInt((times.completeUntil ?? clock()).getTime());
      if (knownAtMs > completeUntilMs) throw new Problem('validation_failed', 'Facts are not counted until then.');
      const units = [0n, ...decidedBoundsMs.map(() => 0n)];
      for (const entry of entries) {
        const { basis = 'ad_delivered', decidedAt, deliveredAt, recordedAt } = entry;
        if (entry.lineItemId !== lineItemId || basis !== countingBasis) continue;
        if (deliveredAt.getTime() >= Number(untilMs) || recordedAt.getTime() > Number(knownAtMs)) continue;
        const place = decidedBoundsMs.filter((bound) => Number(bound) <= decidedAt.getTime()).length;
        units[place]! += BigInt(entry.units);
      }
      return { units, completeUntilMs, methodologyVersion: '3', listsVersion: '7' };
    }) as Ledger['readUnits'],
    listAdjustments: (async ({ lineItemIds, knownAtMs }) => ({
      adjustments: adjustments.filter(
        ({ lineItemId, recordedAtMs }) => lineItemIds.includes(lineItemId) && recordedAtMs <= knownAtMs,
      ),
    })) as Ledger['listAdjustments'],
    /** Counts servings of a line item that were decided and delivered at a time, and known at once or later. */
    count: (lineItemId: string, units: number, at: Date, more: Partial<LedgerEntry> = {}) =>
      void entries.push({ lineItemId, units, decidedAt: at, deliveredAt: at, recordedAt: at, ...more }),
  };
}

export type FakeLedger = ReturnType<typeof createFakeLedger>;
