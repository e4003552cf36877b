import type { PacedLine } from '../pace-line.ts';
import type { Draws, World } from './simulated-world.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A line item of the world, and what became of it. */
export interface SimulatedLine {
  /** As its plan describes it now. */
  paced: PacedLine;
  readonly plan: readonly number[];
  /** Whether it is paid from the campaign's budget. */
  readonly isBudgeted: boolean;
  decided: number;
  delivered: number;
  /** What its delivered ads cost, each at the price of its decision. */
  chargedMicros: number;
  /** Decided by the day of UTC. */
  readonly ofDay: Map<number, number>;
}

const [firstPrice, nextPrice] = [10_000_000, 25_000_000];

/** The line items of a world: some count in `reserved`, some have a most of a day, two share the budget of a campaign. */
export function createLines({ guaranteed, startMs, endMs }: World & { readonly startMs: number }): SimulatedLine[] {
  const days = (endMs - startMs) / dayMs;
  return guaranteed.map(({ lineItemId, goal, plan }, at) => ({
    paced: {
      ...{ lineItemId, goal, basis: at % 5 === 1 ? 'reserved' : 'ad_delivered', mode: 'even', velocity: 1.2 },
      ...{ windowStartMs: startMs, windowEndMs: endMs, finishEarlyPct: 0, dailyMin: undefined, timeZone: 'UTC' },
      // Less than it takes to meet the goal, as not every ad is heard: most days reach it.
      dailyMax: at % 4 === 3 ? Math.ceil((1.1 * goal) / days) : undefined,
      unitPriceMicros: firstPrice,
    },
    ...{ plan, isBudgeted: at >= 14, decided: 0, delivered: 0, chargedMicros: 0, ofDay: new Map() },
  }));
}

/** What the campaign with a budget may cost: three fifths of the value of its goals at the first price. */
export const budgetOf = (lines: readonly SimulatedLine[]): number =>
  lines
    .filter(({ isBudgeted }) => isBudgeted)
    .reduce((sum, { paced }) => sum + 0.6 * ((paced.goal * firstPrice) / 1000), 0);

/** The price of what the campaign with a budget buys is changed in the middle of its time. */
export function changePrices(lines: readonly SimulatedLine[]): void {
  for (const line of lines) if (line.isBudgeted) line.paced = { ...line.paced, unitPriceMicros: nextPrice };
}

/** One ad was decided; `isDelivered` says whether it will be heard. */
export function countServing(line: SimulatedLine, atMs: number, isDelivered: boolean): void {
  const day = Math.floor(atMs / dayMs);
  line.decided++;
  line.ofDay.set(day, (line.ofDay.get(day) ?? 0) + 1);
  if (!isDelivered && line.paced.basis !== 'reserved') return;
  line.delivered++;
  line.chargedMicros += line.paced.unitPriceMicros! / 1000;
}

/** Podcasts share their plays among nodes by weight; one that is down has none. */
export function pickWeighted<T extends { readonly weight: number }>({ unit }: Draws, of: readonly T[]): T {
  let pick = unit() * of.reduce((sum, { weight }) => sum + weight, 0);
  return of.find(({ weight }) => (pick -= weight) < 0) ?? of[0]!;
}
