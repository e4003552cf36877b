import type { SurfaceClass } from './cohort.ts';

const hourMs = 3_600_000;

/** Younger servings are owed whole. */
const firstReturnMs = 2 * hourMs;

/** The age from which nothing is owed any more: a play by HLS ends within a day, a file may be heard for a week. */
const horizonMs: Readonly<Record<SurfaceClass, number>> = { stream: 24 * hourMs, download: 168 * hourMs };

/** The ages, in ms, at which a curve is measured; the last one of a class is its horizon. */
export const curveAgesMs: Readonly<Record<SurfaceClass, readonly number[]>> = {
  stream: [2, 3, 4, 6, 9, 12, 18, 24].map((hours) => hours * hourMs),
  download: [2, 3, 4, 6, 9, 12, 18, 24, 36, 48, 72, 96, 120, 168].map((hours) => hours * hourMs),
};

/** Servings at an age: those decided, and how many of them had been confirmed by then and were confirmed at the horizon. */
export interface AgedServings {
  readonly decided: number;
  readonly confirmed: number;
  readonly confirmedAtHorizon: number;
}

/** Per age of `curveAgesMs` but the horizon, the share of decided servings that may still be confirmed; 1 at most, never rising. */
export type ReturnCurve = readonly number[];

/** Fewer servings measure nothing. */
const leastServings = 1_000;

/** One-sided 99 per cent of a normal distribution. */
const z = 2.326;

/** Upper bound of a share of `of` (Wilson's, one-sided 99 per cent). */
function upperShare(count: number, of: number): number {
  const share = Math.min(1, Math.max(0, count / of));
  const middle = share + z ** 2 / (2 * of);
  const half = z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  return (middle + half) / (1 + z ** 2 / of);
}

/**
 * The curve that was measured: 1.25 times the upper 99 per cent of the share of decisions that were confirmed later than an age.
 * @param aged one per age of `curveAgesMs` but the horizon
 * @param network the curve of all workspaces, which no other may fall below; absent for that curve itself
 * Undefined with fewer than 1,000 servings: then servings are owed whole until the horizon.
 */
export function measureCurve(aged: readonly AgedServings[], network?: ReturnCurve): ReturnCurve | undefined {
  if (aged.some(({ decided }) => decided < leastServings)) return undefined;
  const shares = aged.map(({ decided, confirmed, confirmedAtHorizon }, at) =>
    Math.max(
      Math.min(1, 1.25 * upperShare(confirmedAtHorizon - confirmed, decided)),
      network === undefined ? 0 : (network[at] ?? 1),
    ),
  );
  for (let at = shares.length - 2; at >= 0; at--) shares[at] = Math.max(shares[at]!, shares[at + 1]!);
  return shares;
}

/**
 * The share of decided servings that may still be confirmed at an age: 1 in the first two hours and, without a curve, until the horizon;
 * 0 from the horizon on. Between two ages of the curve that of the younger.
 */
export function owedShare(surfaceClass: SurfaceClass, curve: ReturnCurve | undefined, ageMs: number): number {
  if (ageMs >= horizonMs[surfaceClass]) return 0;
  if (curve === undefined || ageMs < firstReturnMs) return 1;
  const at = curveAgesMs[surfaceClass].findLastIndex((age) => age <= ageMs);
  return curve[at] ?? 1;
}
