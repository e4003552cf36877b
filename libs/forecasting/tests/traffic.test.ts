import { expect, test } from '@jest/globals';
import { bookedLine, createDraws, generateWorld } from '../src/generated-world/index.ts';
import {
  expectedOpportunities,
  expectedOpportunitiesOf,
  findTrafficFactors,
  fitNetwork,
  fitPodcast,
  fitTraffic,
  forecastTraffic,
  intervalOf,
  projectPlays,
  type BacktestRatio,
  type PodcastHistory,
} from '../src/index.ts';
import { dayMs, hourMs, planWindow, slotsOf, startMs, week } from './_world.ts';

const world = generateWorld({
  seed: 51,
  podcasts: 8,
  fromMs: startMs - 120 * dayMs,
  toMs: week.toMs,
  playsPerDay: 8000,
});
const sample = world.playsOf({ fromMs: startMs - 28 * dayMs, toMs: startMs }, { perPodcastAndDay: 60 });
const inputs = { nowMs: startMs, timeZone: 'UTC', podcasts: world.histories };
const model = fitTraffic(inputs);
const line = bookedLine({ line_item_id: 'li', window: planWindow, break_positions: ['pre'] });

test('a forecast reads nothing that was not known at its time', () => {
  const cut = world.histories.map((history) => ({
    ...history,
    episodes: history.episodes
      .filter(({ knownAtMs = 0 }) => knownAtMs <= startMs)
      .map((episode) => ({ ...episode, hours: episode.hours.filter(([hour]) => hour < startMs / hourMs) })),
  }));
  const asOf = fitTraffic({ ...inputs, podcasts: cut });
  expect(forecastTraffic({ model: asOf, window: week })).toEqual(forecastTraffic({ model, window: week }));
});

test('a podcast that is fitted by itself has the curves that it has among all', () => {
  const [history] = world.histories;
  const curves = fitPodcast(history!, fitNetwork(inputs), inputs);
  expect(curves).toEqual(model.podcasts.get(history!.podcastId));
});

test('line items that are asked together have what each has alone', () => {
  const mobile = { ...line, targeting: { ...line.targeting, devices: { include: ['mobile'], exclude: [] } } };
  const question = { model, plays: sample, window: week };
  expect(expectedOpportunitiesOf([line, mobile], question)).toEqual([
    expectedOpportunities(line, question),
    expectedOpportunities(mobile, question),
  ]);
});

test('days, podcasts and positions of a forecast sum to it', () => {
  const found = forecastTraffic({ model, window: week, plays: sample });
  for (const parts of [found.byDay, found.byPodcast, found.byPosition])
    expect(parts.reduce((sum, one) => sum + one.opportunities, 0)).toBeCloseTo(found.opportunities, 3);
  expect(found.byDay.length).toBe(7);
});

test('a modifier multiplies the traffic of its podcast in its window, and is named', () => {
  const { podcastId } = world.histories[0]!;
  const modifier = { modifierId: 'tm_1', podcastId, ...week, factor: 1.5 };
  const before = forecastTraffic({ model, window: week });
  const after = forecastTraffic({ model: fitTraffic({ ...inputs, modifiers: [modifier] }), window: week });
  const of = ({ byPodcast }: typeof before, id: string) => byPodcast.find((one) => one.podcastId === id)!.opportunities;
  expect(of(after, podcastId)).toBeCloseTo(1.5 * of(before, podcastId), 3);
  expect(after.opportunities - of(after, podcastId)).toBeCloseTo(before.opportunities - of(before, podcastId), 3);
  expect([before.modifierIds, after.modifierIds]).toEqual([[], ['tm_1']]);
});

test('what a line item fits follows its dayparts and the age of episodes exactly', () => {
  const fits = (targeting: Partial<typeof line.targeting>) =>
    expectedOpportunities(
      { ...line, targeting: { ...line.targeting, ...targeting } },
      { model, plays: sample, window: week },
    );
  const whole = fits({});
  const mornings = fits({ dayparts: { time_zone: 'UTC', hours: [6, 7, 8] } });
  whole.forEach((count, hour) => expect(mornings[hour]).toBeCloseTo([6, 7, 8].includes(hour) ? count : 0, 9));
  const [young, old] = [fits({ episode_age_hours: { max: 48 } }), fits({ episode_age_hours: { min: 48 } })];
  whole.forEach((count, hour) => expect(young[hour]! + old[hour]!).toBeCloseTo(count, 6));
});

test('the sample with the factors of a forecast has the traffic of the forecast', () => {
  const factors = findTrafficFactors(model, sample, week);
  const slots = slotsOf(projectPlays(sample, { ...week, timeZone: 'UTC' }, factors));
  expect(slots / forecastTraffic({ model, window: week }).opportunities).toBeCloseTo(1, 6);
});

/** A podcast whose every release gets the same, at 6 in the morning of the given days. */
function steadyPodcast(days: readonly number[], level: number, knownAtMs?: number): PodcastHistory {
  const draws = createDraws(1);
  return {
    ...{ podcastId: 'pod_steady', language: 'de', contentCategories: [] },
    episodes: days.map((day) => {
      const publishedAtMs = startMs + day * dayMs + 6 * hourMs;
      const hours = Array.from({ length: 14 * 24 }, (_, age) => {
        const expected = (level / 40) * Math.exp(-age / 40);
        return [publishedAtMs / hourMs + age, draws.poisson(expected)] as const;
      });
      return { episodeId: `e${day}`, publishedAtMs, hours, ...(knownAtMs !== undefined && day >= 0 && { knownAtMs }) };
    }),
  };
}

test.each([
  ['weekly', Array.from({ length: 12 }, (_, at) => (at - 12) * 7 + 2), 7],
  ['each second week', Array.from({ length: 8 }, (_, at) => (at - 8) * 14 + 9), 7],
])('a podcast that releases %s is expected to go on', (_, past, horizon) => {
  const history = steadyPodcast([...past, past.at(-1)! + (past.at(-1)! - past.at(-2)!)], 5000);
  const future = history.episodes.at(-1)!;
  const asOf = { ...history, episodes: history.episodes.slice(0, -1) };
  const found = fitTraffic({ nowMs: startMs, timeZone: 'UTC', podcasts: [asOf] });
  const window = { fromMs: startMs, toMs: startMs + horizon * dayMs };
  const came = [...asOf.episodes, future]
    .flatMap(({ hours }) => hours)
    .filter(([hour]) => hour * hourMs >= window.fromMs && hour * hourMs < window.toMs)
    .reduce((sum, [, count]) => sum + count, 0);
  expect(Math.abs(forecastTraffic({ model: found, window }).opportunities / came - 1)).toBeLessThan(0.2);
});

test('a scheduled episode takes the place of the one that the cadence expects', () => {
  const past = Array.from({ length: 12 }, (_, at) => (at - 12) * 7 + 2);
  const scheduled = steadyPodcast([...past, 3], 5000, startMs - dayMs);
  const found = fitTraffic({ nowMs: startMs, timeZone: 'UTC', podcasts: [scheduled] });
  const { byDay } = forecastTraffic({ model: found, window: week });
  expect(byDay[3]!.opportunities).toBeGreaterThan(3 * byDay[2]!.opportunities);
});

test('a new podcast has the level of its like until its own episodes outweigh it, and says that it is learning', () => {
  const fresh = { ...steadyPodcast([-4], 20_000), podcastId: 'pod_new' };
  const found = fitTraffic({ ...inputs, podcasts: [...world.histories, fresh] });
  const curves = found.podcasts.get('pod_new')!;
  expect(curves.learning).toBe(true);
  expect(forecastTraffic({ model: found, window: week }).learningPodcasts).toEqual(['pod_new']);
  expect(curves.level).toBeGreaterThan(0);
  expect(curves.level).toBeLessThan(40_000);
});

test('a podcast of few episodes has its own level where podcasts differ more than its episodes do', () => {
  const large = { ...steadyPodcast([-25, -18, -11, -4], 100_000), podcastId: 'pod_large' };
  const { podcasts } = fitTraffic({ ...inputs, podcasts: [...world.histories, large] });
  // Its episodes are seen for two weeks; the curve of others says what comes later.
  const others = [...podcasts.values()].filter(({ podcastId }) => podcastId !== 'pod_large');
  const median = others.map(({ level }) => level).toSorted((a, b) => a - b)[others.length >> 1]!;
  expect(median).toBeLessThan(20_000);
  expect(podcasts.get('pod_large')!.level).toBeGreaterThan(85_000);
});

test('weeks are those of the zone: a day with a change of the clock has 23 hours', () => {
  const window = { fromMs: Date.UTC(2026, 2, 28, 23), toMs: Date.UTC(2026, 2, 29, 22) };
  const berlin = fitTraffic({ ...inputs, timeZone: 'Europe/Berlin' });
  expect(forecastTraffic({ model: berlin, window }).byDay.map(({ dayMs: day }) => day)).toEqual([window.fromMs]);
});

const ratios = (count: number, horizon: 7 | 28): BacktestRatio[] =>
  Array.from({ length: count }, (_, at) => ({ volume: 1, horizon, ratio: 0.75 + (0.5 * at) / (count - 1) }));

test('an interval holds four fifths of its own backtests, and is wider with a sampling error', () => {
  const backtests = ratios(101, 7);
  const plain = intervalOf(700, { perDay: 500, horizonDays: 7, backtests });
  const inside = backtests.filter(({ ratio }) => ratio * 700 >= plain.low && ratio * 700 <= plain.high).length;
  expect([plain.method, inside / backtests.length]).toEqual(['backtest', expect.closeTo(0.8, 1)]);
  const wide = intervalOf(700, { perDay: 500, horizonDays: 7, backtests, samplingError: 0.1 });
  expect(wide.low).toBeLessThan(plain.low);
  expect(wide.high).toBeGreaterThan(plain.high);
});

test('fewer than 30 backtests of a class fall back to all classes, and then to a prior', () => {
  const others = ratios(60, 7);
  const perDay = 5000;
  expect(intervalOf(1, { perDay, horizonDays: 7, backtests: others })).toMatchObject({
    method: 'prior',
    low: expect.closeTo(0.8, 1),
  });
  const none = intervalOf(1, { perDay, horizonDays: 28, backtests: others });
  expect(none.method).toBe('prior');
  expect(none.low).toBeLessThan(0.7);
});
