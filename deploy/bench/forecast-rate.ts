import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet';
import {
  backtest,
  findAvailability,
  findMatched,
  simulateDelivery,
  type BacktestRow,
  type SamplePlay,
} from '@longwave/forecasting';
import { bookedLine, bookedPlan, createDraws, generateWorld, targetingOf } from '@longwave/forecasting/generated-world';
import { z } from 'zod';
import { mixedPlan, mixedPlays } from './decision-mix.ts';
import { median, type Row } from './measure.ts';

const dayMs = 86_400_000;
/** Not those of the tests. */
const seeds = [101, 102, 103];
const weekMs = 7 * dayMs;
const nowMs = Date.UTC(2026, 5, 1);
const lineItems = 10_000;
const sampled = 40_000;
/** As the forecaster allows while somebody waits. */
const interactivePlays = 10_000;

const kinds: Readonly<Record<BacktestRow['kind'], string>> = {
  podcast: 'podcasts',
  release_driven: 'podcasts with half of their traffic from the week’s episodes',
  targeting: 'targetings',
};
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

function backtestsOf(seed: number): readonly BacktestRow[] {
  const fromMs = nowMs - 230 * dayMs;
  const world = generateWorld({ seed, podcasts: 24, playsPerDay: 20_000, fromMs, toMs: nowMs });
  const draws = createDraws(seed);
  const window = { start: new Date(nowMs).toISOString(), end: new Date(nowMs + weekMs).toISOString() };
  const lines = Array.from({ length: 20 }, (_, at) =>
    bookedLine({ line_item_id: `li_${at}`, window, targeting: targetingOf(world.podcasts, draws) }),
  );
  const plays = world.playsOf({ fromMs: nowMs - 105 * dayMs, toMs: nowMs }, { perPodcastAndDay: 60 });
  return backtest({ nowMs, timeZone: 'UTC', podcasts: world.histories, lines, plays }).rows;
}

/** The errors of forecasts in generated worlds, against the mean of the last 28 days by weekday; smaller is better. */
function accuracyRows(): readonly Row[] {
  const rows = seeds.flatMap(backtestsOf);
  const groups = new Map<string, BacktestRow[]>();
  for (const row of rows) {
    const key = `${kinds[row.kind]}, ${row.horizon} days`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups].map(([key, own]): Row => {
    const forecasts = own.reduce((sum, row) => sum + row.forecasts, 0);
    const mean = (read: (row: BacktestRow) => number) =>
      own.reduce((sum, row) => sum + read(row) * row.forecasts, 0) / forecasts;
    const whole = `wMAPE ${percent(mean(({ ours }) => ours.wmape))} of the whole`;
    const baseline = `baseline ${percent(mean((row) => row.weekdayMean.wmape))}`;
    const bias = `bias ${percent(mean(({ ours }) => ours.bias))}`;
    const coverage = `the 80 % interval covers ${percent(mean(({ ours }) => ours.coverage))}`;
    const [ours, other] = [mean((row) => row.ours.dailyWmape), mean((row) => row.weekdayMean.dailyWmape)];
    return {
      name: `forecast of ${key} (${whole}, ${baseline}, ${bias}, ${coverage})`,
      ...{ unit: 'wMAPE by day', ours, baseline: other, ratio: ours / other },
      baselineName: 'the last 28 days by weekday',
    };
  });
}

const slotsOf = (plays: readonly SamplePlay[]) =>
  plays.reduce((sum, { breaks }) => sum + breaks.reduce((all, { maxSlots }) => all + maxSlots, 0), 0);

/** Errors of available by sampling alone: the traffic of each podcast and day is known. The truth is the answer from all plays. */
function samplingRows(seed: number): readonly Row[] {
  const fromMs = nowMs - 70 * dayMs;
  const world = generateWorld({ seed, podcasts: 24, playsPerDay: 12_000, fromMs, toMs: nowMs });
  const past = { fromMs: nowMs - weekMs, toMs: nowMs };
  const [truth, sample] = [world.playsOf(past), world.playsOf(past, { perPodcastAndDay: 500 })];
  const window = { start: new Date(nowMs).toISOString(), end: new Date(nowMs + weekMs).toISOString() };
  const plan = bookedPlan(world, { seed, guaranteed: 16, window, slots: slotsOf(truth), bookedShare: 0.45 });
  const days = { fromMs: nowMs, toMs: nowMs + weekMs, timeZone: 'UTC' };
  const dayOf = (atMs: number) => Math.floor(atMs / dayMs) % 7;
  const sums = (plays: readonly SamplePlay[]) => {
    const found = new Map<string, number>();
    for (const { podcastId, atMs, weight } of plays) {
      const key = `${podcastId} ${dayOf(atMs)}`;
      found.set(key, (found.get(key) ?? 0) + weight);
    }
    return found;
  };
  const [actual, sampledSums] = [sums(truth), sums(sample)];
  const trafficFactors = (podcastId: string, atMs: number) => {
    const key = `${podcastId} ${dayOf(atMs)}`;
    return (actual.get(key) ?? 0) / (sampledSums.get(key) ?? Infinity);
  };
  const known = simulateDelivery({ plan, plays: truth, days, count: truth.length }).baseline;
  const draws = createDraws(seed);
  const prospects = Array.from({ length: 6 }, (_, at) =>
    bookedLine({ line_item_id: `new_${at}`, window, priority: 4, targeting: targetingOf(world.podcasts, draws) }),
  );
  const truths = prospects.map((line) =>
    findAvailability({ plan, plays: truth, days, baseline: known, prospective: line }),
  );
  return [sampled, 10_000].flatMap((count) => {
    const inputs = { plan, plays: sample, days, trafficFactors };
    const { baseline } = simulateDelivery({ ...inputs, count });
    const found = prospects.map((line) => findAvailability({ ...inputs, baseline, prospective: line }));
    const errors = (read: (one: (typeof found)[number]) => number) =>
      found
        .map((one, at) => Math.abs(read(one) / read(truths[at]!) - 1))
        // Targetings of which 3 % of all slots are left at least.
        .filter((_, at) => truths[at]!.available >= 0.03 * slotsOf(truth));
    const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
    const [available, capacity] = [errors((one) => one.available), errors((one) => one.capacity)];
    const name = `available, traffic known, ${count.toLocaleString('en')} of ${truth.length.toLocaleString('en')} plays`;
    const worst = `worst ${percent(Math.max(...available))} of ${available.length}; matched ${percent(mean(capacity))}`;
    const aim = count === sampled ? 0.02 : 0.05;
    const [ours, ratio] = [mean(available), mean(available) / aim];
    return [{ name: `${name} (${worst})`, unit: 'mean error', ours, baseline: aim, ratio, baselineName: 'the aim' }];
  });
}

const secondsOf = (work: () => unknown): number => {
  const started = performance.now();
  work();
  return (performance.now() - started) / 1000;
};

/** Times at 10,000 line items and a sample of 40,000 plays. */
function timeRows(): readonly Row[] {
  const plan = mixedPlan(lineItems);
  const plays = mixedPlays(sampled, 1).map((play, at): SamplePlay => {
    const atMs = nowMs - weekMs + Math.floor((at * weekMs) / sampled);
    return { ...play, atMs, listener: `l${at % 9000}`, weight: 1, lineItemIds: [], noAdReason: '' };
  });
  const days = { fromMs: nowMs, toMs: nowMs + weekMs, timeZone: 'UTC' };
  const window = { start: new Date(days.fromMs).toISOString(), end: new Date(days.toMs).toISOString() };
  const open = { ...plan, line_items: plan.line_items.map((line) => ({ ...line, window })) };
  const matched = open.line_items
    .slice(0, 7)
    .map((line) => secondsOf(() => findMatched(line, plays, { timeZone: 'UTC' })));
  let baseline: ReturnType<typeof simulateDelivery>['baseline'] | undefined;
  const full = secondsOf(() => ({ baseline } = simulateDelivery({ plan: open, plays, days })));
  const prospects = open.line_items.filter(({ type }) => type === 'guaranteed').slice(0, 7);
  const available = prospects.map((line) =>
    secondsOf(() =>
      findAvailability({
        ...{ plan: open, plays, days, baseline: baseline!, maxPlays: interactivePlays },
        prospective: { ...line, line_item_id: 'li_new', goal: { unit: 'unlimited' } },
      }),
    ),
  );
  const at = `at ${lineItems.toLocaleString('en')} line items, ${sampled.toLocaleString('en')} plays`;
  const row = (name: string, ours: number, baselineSeconds: number, baselineName: string): Row => ({
    ...{ name: `${name} ${at}`, unit: 's', ours, baseline: baselineSeconds, baselineName },
    ratio: ours / baselineSeconds,
  });
  const micros = Math.round((full * 1e6) / sampled);
  return [
    row('matched of one line item', median(matched), full, 'deciding the sample'),
    row('availability, interactive', median(available), 2 * full, 'two full runs'),
    row(`delivery of all line items (${micros} µs a play)`, full, 60, 'the aim, 60 s'),
  ];
}

const program = path.join(workspaceRoot, 'apps/forecaster/tests/_seller-questions.ts');
const seconds = z.array(z.tuple([z.number(), z.number()]));
const answered = z.strictObject({
  anew: seconds,
  expected: seconds,
  veryFirst: seconds,
  first: seconds,
  next: seconds,
  contended: seconds,
  ahead: seconds,
  afterAhead: seconds,
  matched: seconds,
  sampled: z.number(),
  megabytes: z.number(),
});

const most = (values: readonly number[]) => Math.max(...values);
const p95 = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.ceil(0.95 * values.length) - 1]!;

/** How long sellers wait at 10,000 line items and a million opportunities a day, in a process of its own. */
function sellerRows(): readonly Row[] {
  const text = execFileSync(process.execPath, [program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const found = answered.parse(JSON.parse(text.trim().split('\n').at(-1)!));
  const { anew, expected, veryFirst, first, next, contended, ahead, afterAhead, matched } = found;
  const at = `at ${lineItems.toLocaleString('en')} line items, 1M opportunities a day`;
  type Measure = (values: readonly number[]) => number;
  const row = (name: string, times: typeof anew, measure: Measure, aim: number): Row => {
    const [clock, processor] = [0, 1].map((place) => measure(times.map((one) => one[place]!))) as [number, number];
    return {
      ...{ name: `${name} (${processor.toFixed(2)} s of the processor) ${at}`, unit: 's', ours: clock },
      ...{ baseline: aim, baselineName: 'the aim', ratio: clock / aim },
    };
  };
  const sample = `${found.sampled.toLocaleString('en')} sampled, ${Math.round(found.megabytes)} MB`;
  return [
    row(`a seller’s question of which nothing is kept, median of ${anew.length}`, anew, median, 2),
    row(`the longest part that is made for a flight that is offered, of ${expected.length}`, expected, most, 2),
    row(`the first question of a workspace, after that, the worst of ${veryFirst.length}`, veryFirst, most, 2),
    row(`a seller’s question after something was sold, median of ${first.length}`, first, median, 2),
    row(`a further question, p95 of ${next.length}`, next, p95, 2),
    row(`a question that takes from promised goals, p95 of ${contended.length}`, contended, p95, 2),
    row(`the longest part that is made ahead, of ${ahead.length - 1}`, ahead, most, 2),
    row('the first question of an hour, after that', afterAhead, median, 2),
    row(`matched of one line item, ${sample}`, matched, median, 0.3),
  ];
}

const way = path.join(workspaceRoot, 'apps/management/tests/_seller-way.ts');
const reserved = z.array(z.tuple([z.number(), z.number(), z.number()]));
const wayMeasured = z.strictObject({ first: reserved, next: reserved, rested: reserved, refused: reserved });

/** The whole way of `line_item.reserve`, through management and a forecaster with a small past. */
function wayRows(): readonly Row[] {
  const text = execFileSync(process.execPath, [way], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const { first, next, rested, refused } = wayMeasured.parse(JSON.parse(text.trim().split('\n').at(-1)!));
  const row = (name: string, times: typeof first): Row => {
    const [clock, management, forecaster] = [0, 1, 2].map((place) => median(times.map((one) => one[place]!)));
    const processor = `${management!.toFixed(2)} s of management’s processor, ${forecaster!.toFixed(2)} s of the forecaster’s`;
    return {
      ...{ name: `line_item.reserve, ${name} (${processor}) at ${lineItems.toLocaleString('en')} line items` },
      ...{ unit: 's', ours: clock!, baseline: 2, baselineName: 'the aim', ratio: clock! / 2 },
    };
  };
  return [
    row('the first one', first),
    row(`each after one that sold, median of ${next.length}`, next),
    row(`three seconds after one that sold, median of ${rested.length}`, rested),
    row(`refused, median of ${refused.length}`, refused),
  ];
}

/** Accuracy and time of forecasts (docs/forecasting.md#accuracy). In these rows a smaller ratio is better. */
export const forecastRates = async (): Promise<readonly Row[]> => [
  ...sellerRows(),
  ...wayRows(),
  ...timeRows(),
  ...samplingRows(seeds[0]!),
  ...accuracyRows(),
];
