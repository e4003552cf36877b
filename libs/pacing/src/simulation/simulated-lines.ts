import type { PacedLine } from '../pace-line.ts';
import { startMs, type Draws, type World } from './simulated-world.ts';

const dayMs = 86_400_000;

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

/** The line items with a goal that a world has sold; two share the budget of a campaign. */
export function createLines({ guaranteed, endMs }: Pick<World, 'guaranteed' | 'endMs'>): SimulatedLine[] {
  return guaranteed.map(({ sold: { line_item_id: lineItemId, goal, pacing }, plan, isBudgeted }) => ({
    paced: {
      ...{ lineItemId, goal: goal.quantity!, basis: pacing!.counting_basis, mode: pacing!.mode },
      ...{ velocity: pacing!.velocity, finishEarlyPct: pacing!.finish_early_pct, timeZone: pacing!.time_zone },
      ...{ windowStartMs: startMs, windowEndMs: endMs, dailyMin: undefined, dailyMax: pacing!.daily_max },
      unitPriceMicros: firstPrice,
    },
    ...{ plan, isBudgeted, decided: 0, delivered: 0, chargedMicros: 0, ofDay: new Map() },
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
