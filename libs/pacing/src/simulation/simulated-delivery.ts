import { curveAgesMs, measureCurve, type ReturnCurve } from '../return-curve.ts';
import type { Draws } from './simulated-world.ts';

const hourMs = 3_600_000;

/** When a decided serving is delivered, or undefined: 93 per cent within half an hour, 6 within a day, 1 within four days. */
export function deliveryDelay({ unit }: Draws, rate: number): number | undefined {
  if (unit() >= rate) return undefined;
  const law = unit();
  if (law < 0.93) return unit() * 0.5 * hourMs;
  return law < 0.99 ? (0.5 + unit() * 23.5) * hourMs : (24 + unit() * 72) * hourMs;
}

/** The curve that a network measures whose servings follow that law. */
export function measuredCurve(draws: Draws, rate: number): ReturnCurve {
  const servings = 50_000;
  const delays = Array.from({ length: servings }, () => deliveryDelay(draws, rate) ?? Infinity);
  const delivered = delays.filter((delay) => delay < Infinity).length;
  const aged = curveAgesMs.download.slice(0, -1).map((ageMs) => ({
    decided: servings,
    confirmed: delays.filter((delay) => delay <= ageMs).length,
    confirmedAtHorizon: delivered,
  }));
  return measureCurve(aged)!;
}
