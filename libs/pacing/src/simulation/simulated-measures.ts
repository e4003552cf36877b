import type { Share } from '@longwave/ad-decision';
import type { SimulatedLine } from './simulated-lines.ts';
import type { SimulatedPacer } from './simulated-pacer.ts';
import type { Tables } from './simulated-tables.ts';
import type { World } from './simulated-world.ts';

const hourMs = 3_600_000;
const dayHours = 24;
/** A share is measured from so many opportunities on. */
const leastOpportunities = 1_000;

export interface SimulatedResult {
  /** Per cent of the goal, of the worst line item that counts deliveries: delivered beyond it; negative where none is. */
  readonly over: number;
  /** Units, of the worst line item that counts in `reserved`: decided beyond its goal. */
  readonly overReserved: number;
  /** Per cent of the goals that were not delivered, of all line items and of the worst; without those that a budget or days bound. */
  readonly shortAll: number;
  readonly shortWorst: number;
  /** Of the same line items the worst: per cent of its goal that was not committed at its end, for want of slots. The rest of what it is short is held back for late deliveries. */
  readonly uncommittedWorst: number;
  /** Per cent of the goal between its plan and what will have been heard of the slots given so far, over line items and hours. */
  readonly distanceMean: number;
  readonly distanceWorst: number;
  /** Units, of the worst line item and day: decided beyond the most of a day. */
  readonly overDay: number;
  /** Per cent of the campaign's budget that its delivered ads cost beyond it; negative where nothing. */
  readonly overBudget: number;
  /** Percentage points between what a sponsorship had and what it has bought, of the worse one. */
  readonly shareOff: number;
  /** Slots that the rows refused, as nodes believed to have more than that. */
  readonly refused: number;
  /** Times that more was granted than goal and day allow, or that rows did not have every slot: none in a right pacer. */
  readonly broken: number;
  readonly plays: number;
  /** Per cent of all slots that goals together are. */
  readonly booked: number;
}

const worst = (values: readonly number[]) => Math.max(...values);
const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** Follows a run, and says at its end what became of goals, days, budget and shares. */
export function measure(lines: readonly SimulatedLine[], world: Pick<World, 'index'>, budgetMicros: number) {
  const shareHours = new Map<number, Map<number, { served: number; opportunities: number }>>();
  let [refused, broken, distances, distanceSum, distanceWorst] = [0, 0, 0, 0, 0];
  /** What was granted of each line item when it was checked last. */
  const before = new Map<string, number>();
  const sumShares = (ordinal: number, fromHour: number): Share => {
    const hours = [...(shareHours.get(ordinal) ?? [])].filter(([hour]) => hour >= fromHour).map(([, sums]) => sums);
    return {
      served: sumOf(hours.map(({ served }) => served)),
      opportunities: sumOf(hours.map(({ opportunities }) => opportunities)),
    };
  };

  return {
    refuse: (slots: number) => (refused += slots),
    addShare(ordinal: number, atMs: number, served: number, opportunities: number): void {
      if (world.index.lines[ordinal]!.sharePct === undefined) return;
      const hours = shareHours.get(ordinal) ?? new Map<number, { served: number; opportunities: number }>();
      shareHours.set(ordinal, hours);
      const hour = Math.floor(atMs / hourMs);
      const sums = hours.get(hour) ?? { served: 0, opportunities: 0 };
      hours.set(hour, { served: sums.served + served, opportunities: sums.opportunities + opportunities });
    },
    /** The shares of the last 24 hours. */
    shares: (atMs: number): Map<number, Share> =>
      new Map([...shareHours.keys()].map((at) => [at, sumShares(at, Math.floor(atMs / hourMs) - dayHours + 1)])),
    /** Looks at rows after statements of whatever pacer: at I1, where more than before is granted, and that they have every slot. */
    check(pacer: SimulatedPacer, tables: Tables): void {
      for (const { paced, decided } of lines) {
        const { lineItemId } = paced;
        const moment = pacer.of(lineItemId).moment();
        if (!moment) continue;
        const rows = [...tables.rowsOf(lineItemId).values()];
        const granted = sumOf(rows.map((row) => row.granted));
        const isMore = granted > (before.get(lineItemId) ?? 0);
        const used = tables.closedUsed(lineItemId) + sumOf(rows.map((row) => row.used));
        if ((isMore && granted > moment.maxGranted + 1e-6) || used !== decided) broken++;
        before.set(lineItemId, granted);
      }
    },
    addDistances(pacer: SimulatedPacer): void {
      for (const { paced, isBudgeted, delivered } of lines) {
        if (isBudgeted) continue;
        const { target } = pacer.of(paced.lineItemId).moment()!;
        const distance = (Math.abs(delivered - target) / paced.goal) * 100;
        distanceSum += distance;
        distances++;
        distanceWorst = Math.max(distanceWorst, distance);
      }
    },
    /** @param pacer as it ended */
    result(pacer: SimulatedPacer): Omit<SimulatedResult, 'plays' | 'booked'> {
      const free = lines.filter(({ isBudgeted, paced }) => !isBudgeted && paced.dailyMax === undefined);
      const missing = free.map(({ delivered, paced }) => Math.max(0, paced.goal - delivered));
      const goals = sumOf(free.map(({ paced }) => paced.goal));
      const shares = [...shareHours.keys()].map((at) => ({
        ...sumShares(at, 0),
        pct: world.index.lines[at]!.sharePct!,
      }));
      const cost = sumOf(lines.filter(({ isBudgeted }) => isBudgeted).map((line) => line.chargedMicros));
      return {
        over: worst(
          lines.map(({ delivered, paced }) =>
            paced.basis === 'reserved' ? -Infinity : (delivered / paced.goal - 1) * 100,
          ),
        ),
        overReserved: worst(
          lines.map(({ decided, paced }) => (paced.basis === 'reserved' ? decided - paced.goal : -Infinity)),
        ),
        shortAll: (sumOf(missing) / goals) * 100,
        shortWorst: worst(free.map(({ paced }, at) => (missing[at]! / paced.goal) * 100)),
        uncommittedWorst: worst(
          free.map(({ paced: { goal, lineItemId } }) => (1 - pacer.of(lineItemId).committed() / goal) * 100),
        ),
        ...{ distanceMean: distanceSum / distances, distanceWorst },
        overDay: worst(
          lines.flatMap(({ paced: { dailyMax = Infinity }, ofDay }) =>
            [...ofDay.values()].map((day) => day - dailyMax),
          ),
        ),
        overBudget: (cost / budgetMicros - 1) * 100,
        shareOff: worst(
          shares.map(({ served, opportunities, pct }) =>
            opportunities < leastOpportunities ? 0 : Math.abs((served / opportunities) * 100 - pct),
          ),
        ),
        ...{ refused, broken },
      };
    },
  };
}
