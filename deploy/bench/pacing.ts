import { sellWhatIsLeft } from '@longwave/forecasting/sell-what-is-left';
import { simulatePacing, type SimulatedResult, type SimulationOptions } from '@longwave/pacing/simulation';
import type { Row } from './measure.ts';
import { pacerTick } from './pacer-tick.ts';

const minuteMs = 60_000;

const base: Omit<SimulationOptions, 'seed'> = {
  ...{ days: 5, playsPerDay: 60_000, spikes: 0.55, noise: 0, booked: 0.45, lagMs: 0, faults: false },
  ...{ deliveryRate: 0.82, lastDayRate: 0.82, tickMs: 10_000 },
};

/** Faults, counts an hour late, and a plan that does not know the levels of episodes. */
const worst: Partial<SimulationOptions> = { noise: 0.35, faults: true, lagMs: 60 * minuteMs };

/** The runs of docs/pacing.md, with 8 nodes and 20 line items over five days. Goals are what availability said yes to. */
const runs: Readonly<Record<string, Partial<SimulationOptions>>> = {
  'diurnal, exact plan': { spikes: 0.1 },
  'spikes, exact plan': {},
  'spikes, noisy plan': { noise: 0.35 },
  'spikes, no plan': { withoutPlan: true },
  ...Object.fromEntries(
    [0, 5, 30, 60].map((minutes) => [`noisy, faults, lag ${minutes} min`, { ...worst, lagMs: minutes * minuteMs }]),
  ),
  'noisy, faults, lag 60 min, rate 82 to 97 % on the last day': { ...worst, lastDayRate: 0.97 },
  'noisy, faults, lag 60 min, goals 60 %': { ...worst, booked: 0.6 },
  'spikes, exact plan, goals of everything that is left': { booked: 0.8 },
};

/**
 * What a run may not exceed: per cent, units and points of its result. The distance is that of a plan that is not known, or of goals that
 * leave little. Where everything that is left is sold, every goal has its slots; whoever makes up most of it on the last day may be short by
 * more of what is held back for late deliveries (docs/pacing.md).
 */
const mostOf = ({ noise = 0, withoutPlan, booked = 0.45 }: Partial<SimulationOptions>): Partial<SimulatedResult> => ({
  ...{ over: 0.5, overReserved: 0, overDay: 0, overBudget: 0, shareOff: 1, broken: 0 },
  ...(booked <= 0.6 ? { shortWorst: 2 } : { shortWorst: 3, uncommittedWorst: 0.5 }),
  distanceMean: noise > 0 || withoutPlan || booked > 0.6 ? 4 : 1.5,
});

const shown = (value: number) => value.toFixed(1);

function show(name: string, result: SimulatedResult): void {
  const { over, overReserved, shortAll, shortWorst, uncommittedWorst, distanceMean, distanceWorst, booked } = result;
  const { overDay, overBudget, shareOff, refused, broken } = result;
  console.log(
    `  ${name}: sold ${shown(booked)} %, over ${shown(over)} %, reserved ${overReserved}, short ${shown(shortAll)} / ${shown(shortWorst)} %, uncommitted ${shown(uncommittedWorst)} %, ` +
      `distance from plan ${shown(distanceMean)} / ${shown(distanceWorst)} pp, over days ${overDay}, budget ${shown(overBudget)} %, ` +
      `shares off ${shown(shareOff)} pp, refused ${refused}, broken ${broken}`,
  );
}

function runOnce(name: string, given: Partial<SimulationOptions>, seed: number): void {
  const options = { ...base, ...given, seed };
  const result = simulatePacing({ ...options, sell: sellWhatIsLeft(options.deliveryRate) });
  show(`${name}, seed ${seed}`, result);
  for (const [bound, most] of Object.entries(mostOf(given))) {
    const value = result[bound as keyof SimulatedResult];
    if (value <= most) continue;
    console.error(`  ${name}, seed ${seed}: ${bound} is ${value}, at most ${most}`);
    process.exitCode = 1;
  }
}

/**
 * Prints every run of the simulation for each seed, which is no comparison; the row is that of the pacer's tick. The program fails where a
 * run breaks its bounds.
 */
export async function pacing(seeds: readonly number[]): Promise<readonly Row[]> {
  for (const [name, given] of Object.entries(runs)) for (const seed of seeds) runOnce(name, given, seed);
  return [pacerTick()];
}
