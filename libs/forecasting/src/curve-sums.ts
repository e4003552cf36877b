import type { Decay } from './traffic-model.ts';

export const hourMs = 3_600_000;
export const dayHours = 24;
export const weekHours = 168;
/** From here on the decay goes by day. */
const hourlyAges = 72;
/** An episode of this age belongs to the tail. */
export const tailAge = 56 * dayHours;
const lateDays = 53;
const bins = hourlyAges + lateDays;

export const sumOf = (values: ArrayLike<number>): number => {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at]!;
  return sum;
};

/** Share of an episode's opportunities in one hour of its age; 0 before it and from 56 days on. */
export function decayAt({ hours, days }: Decay, ageHours: number): number {
  if (ageHours < 0 || ageHours >= tailAge) return 0;
  if (ageHours < hourlyAges) return hours[ageHours]!;
  return days[((ageHours / dayHours) | 0) - 3]! / dayHours;
}

/** Observed opportunities, and those that would be expected if the curve that is asked for were 1. */
export interface CurveSums {
  readonly observed: Float64Array;
  readonly exposed: Float64Array;
}

const createSums = (length: number): CurveSums => ({
  observed: new Float64Array(length),
  exposed: new Float64Array(length),
});
/** By age: hours to 72, then days. */
export const createAgeSums = (): CurveSums => createSums(bins);
/** By hour of the local week. */
export const createWeekSums = (): CurveSums => createSums(weekHours);

export const ageBinOf = (ageHours: number): number =>
  ageHours < hourlyAges ? ageHours : hourlyAges + ((ageHours / dayHours) | 0) - 3;

/** Opportunities that a curve of the network weighs as much as, by point of the curve. */
const priorWeight = { age: 200, week: 300 };

const ageOf = (bin: number): number => (bin < hourlyAges ? bin : (bin - hourlyAges + 3) * dayHours);
/** What such a time of ages says of those beside it. */
const neighbourHours = 7 * dayHours;

/** Ages that no episode has shown go on from the nearest that one has, in the shape of `flatDecay`. */
function fillUnseen(shares: Float64Array, exposed: Float64Array): void {
  const seen = Array.from(exposed.keys()).filter((bin) => exposed[bin]! > 0);
  if (seen.length === 0 || seen.length === bins) return;
  const flat = Float64Array.from([...flatDecay.hours, ...flatDecay.days]);
  const distance = (a: number, b: number) => Math.abs(ageOf(a) - ageOf(b));
  for (let bin = 0; bin < bins; bin++) {
    if (exposed[bin]! > 0) continue;
    const nearest = seen.reduce((best, one) => (distance(one, bin) < distance(best, bin) ? one : best));
    const beside = seen.filter((one) => distance(one, nearest) <= neighbourHours);
    const scale = sumOf(beside.map((one) => shares[one]!)) / sumOf(beside.map((one) => flat[one]!));
    shares[bin] = scale * flat[bin]!;
  }
}

/** The decay that sums say, shrunk to another one. */
export function decayOf({ observed, exposed }: CurveSums, prior: Decay | undefined): Decay {
  const shares = new Float64Array(bins);
  for (let bin = 0; bin < bins; bin++) {
    const length = bin < hourlyAges ? 1 : dayHours;
    const before = prior ? (bin < hourlyAges ? prior.hours[bin]! : prior.days[bin - hourlyAges]! / dayHours) : 0;
    const weight = before > 0 ? priorWeight.age : 0;
    const exposure = exposed[bin]! + (weight > 0 ? weight / before : 0);
    shares[bin] = exposure > 0 ? (length * (observed[bin]! + weight)) / exposure : 0;
  }
  if (!prior) fillUnseen(shares, exposed);
  const all = sumOf(shares);
  if (!(all > 0)) return prior ?? flatDecay;
  for (let bin = 0; bin < bins; bin++) shares[bin]! /= all;
  return { hours: shares.slice(0, hourlyAges), days: shares.slice(hourlyAges) };
}

/** Half within three days, the rest falling by day: where nothing is known. */
export const flatDecay: Decay = (() => {
  const hours = Float64Array.from({ length: hourlyAges }, (_, hour) => Math.exp(-hour / 24));
  const days = Float64Array.from({ length: lateDays }, (_, day) => Math.exp(-day / 14));
  const [early, late] = [2 * sumOf(hours), 2 * sumOf(days)];
  return { hours: hours.map((one) => one / early), days: days.map((one) => one / late) };
})();

/** The week that sums say, shrunk to another one; mean 1. */
export function weekOf({ observed, exposed }: CurveSums, prior: Float64Array | undefined): Float64Array {
  const week = new Float64Array(weekHours);
  for (let hour = 0; hour < weekHours; hour++) {
    const before = prior?.[hour] ?? 1;
    const exposure = exposed[hour]! + priorWeight.week / before;
    week[hour] = (observed[hour]! + priorWeight.week) / exposure;
  }
  const mean = sumOf(week) / weekHours;
  return week.map((one) => one / mean);
}
