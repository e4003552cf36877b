import { simulatePacing, type SimulatedResult, type SimulationOptions } from '@longwave/pacing/simulation';
import type { Row } from './measure.ts';
import { pacerTick } from './pacer-tick.ts';

const minuteMs = 60_000;

const base: Omit<SimulationOptions, 'seed'> = {
  ...{ days: 5, playsPerDay: 60_000, spikes: 0.55, noise: 0, booked: 0.45, lagMs: 0, faults: false },
  ...{ deliveryRate: 0.82, lastDayRate: 0.82, tickMs: 10_000 },
};

/** The runs of docs/pacing.md, with 8 nodes and 20 line items over five days. */
const runs: Readonly<Record<string, Partial<SimulationOptions>>> = {
  'diurnal, exact plan': { spikes: 0.1 },
  'spikes, exact plan': {},
  'spikes, noisy plan': { noise: 0.35 },
  'spikes, no plan': { withoutPlan: true },
  ...Object.fromEntries(
    [0, 5, 30, 60].map((minutes) => [
      `noisy, faults, lag ${minutes} min`,
      { noise: 0.35, faults: true, lagMs: minutes * minuteMs },
    ]),
  ),
  'noisy, faults, lag 60 min, goals 60 %': { noise: 0.35, faults: true, lagMs: 60 * minuteMs, booked: 0.6 },
  'noisy, faults, lag 60 min, rate 82 to 97 % on the last day': {
    ...{ noise: 0.35, faults: true, lagMs: 60 * minuteMs, lastDayRate: 0.97 },
  },
};

const shown = (value: number) => value.toFixed(1);

function show(name: string, seed: number, result: SimulatedResult): void {
  const { over, overReserved, shortAll, shortWorst, distanceMean, distanceWorst } = result;
  const { overDay, overBudget, shareOff, refused, broken } = result;
  console.log(
    `  ${name}, seed ${seed}: over ${shown(over)} %, reserved ${overReserved}, short ${shown(shortAll)} / ${shown(shortWorst)} %, ` +
      `distance from plan ${shown(distanceMean)} / ${shown(distanceWorst)} pp, over days ${overDay}, budget ${shown(overBudget)} %, ` +
      `shares off ${shown(shareOff)} pp, refused ${refused}, broken ${broken}`,
  );
}

/** Prints every run of the simulation for each seed, which is no comparison; the row is that of the pacer's tick. */
export async function pacing(seeds: readonly number[]): Promise<readonly Row[]> {
  for (const [name, given] of Object.entries(runs))
    for (const seed of seeds) show(name, seed, simulatePacing({ ...base, ...given, seed }));
  return [pacerTick()];
}
