import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bookedLine, bookedPlan, createDraws } from '../src/generated-world/index.ts';
import { projectPlays, resamplePlays, simulateDelivery } from '../src/index.ts';
import { bookedWeek, dayMs, days, lastWeekOf, playOf, startMs, week } from './_world.ts';

const sampled = fc.array(
  fc.record({
    podcastId: fc.constantFrom('pod_1', 'pod_2', 'pod_3'),
    weight: fc.constantFrom(1, 1, 2, 4, 16),
    listener: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', ''),
    atMs: fc.integer({ min: 0, max: 7 * 288 - 1 }).map((step) => startMs + step * 300_000),
  }),
  { minLength: 50, maxLength: 200 },
);

test('each podcast has its share of the weights among the resampled plays, to one play', () => {
  fc.assert(
    fc.property(sampled, fc.nat(1000), (rows, seed) => {
      const plays = rows.map(playOf);
      const { plays: equal, scale } = resamplePlays(plays, { count: 300, seed });
      for (const podcastId of ['pod_1', 'pod_2', 'pod_3']) {
        const weight = plays.reduce((sum, play) => sum + (play.podcastId === podcastId ? play.weight : 0), 0);
        const drawn = equal.filter((play) => play.podcastId === podcastId).length;
        expect(Math.abs(drawn - weight / scale)).toBeLessThanOrEqual(1 + 0.01 * drawn);
      }
    }),
  );
});

test('plays keep their time order, and every one has a decision id of its own', () => {
  fc.assert(
    fc.property(sampled, fc.boolean(), (rows, byListener) => {
      const { plays } = resamplePlays(rows.map(playOf), { count: 250, seed: 1, byListener });
      expect(plays.map(({ atMs }) => atMs)).toEqual(plays.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
      expect(new Set(plays.map(({ decisionId }) => decisionId)).size).toBe(plays.length);
    }),
  );
});

test('by listener, a copy of a listener has all plays of equal weight or none', () => {
  const { unit, below } = createDraws(5);
  const plays = Array.from({ length: 400 }, () =>
    playOf({ listener: `l${below(80)}`, atMs: startMs + Math.floor(unit() * 2000) * 300_000, weight: 1 }),
  );
  const counts = new Map<string, number>();
  for (const { listener } of plays) counts.set(listener, (counts.get(listener) ?? 0) + 1);
  const { plays: drawn } = resamplePlays(plays, { count: 900, seed: 3, byListener: true });
  const copies = new Map<string, number>();
  for (const { listener } of drawn) copies.set(listener, (copies.get(listener) ?? 0) + 1);
  for (const [copy, count] of copies) expect(count).toBe(counts.get(copy.split('/')[0]!));
  expect(Math.abs(drawn.length - 900)).toBeLessThan(45);
});

test('a line item that wants every slot has in each podcast the share of slots that the truth has, whatever the weights of the sample', () => {
  const { world, plays } = bookedWeek({ seed: 11, playsPerDay: 4000, bookedShare: 0.4 });
  const stratified = world.playsOf(week, { perPodcastAndDay: 60 });
  expect(Math.max(...stratified.map(({ weight }) => weight))).toBeGreaterThan(4);
  const window = { start: new Date(week.fromMs).toISOString(), end: new Date(week.toMs).toISOString() };
  const plan = {
    ...bookedPlan(world, { seed: 1, guaranteed: 1, window, slots: 1, bookedShare: 1 }),
    line_items: [bookedLine({ line_item_id: 'li_all', window, type: 'non_guaranteed' })],
  };
  const { baseline } = simulateDelivery({ plan, days, plays: lastWeekOf(stratified), count: 8000 });
  const share = (all: readonly { readonly podcastId: string }[], podcastId: string) =>
    all.filter((play) => play.podcastId === podcastId).length / all.length;
  const weights = stratified.reduce((sum, { weight }) => sum + weight, 0);
  for (const { podcastId } of world.podcasts) {
    const wanted = stratified.reduce((sum, one) => sum + (one.podcastId === podcastId ? one.weight : 0), 0) / weights;
    expect(share(baseline.plays, podcastId)).toBeCloseTo(wanted, 3);
  }
  expect(baseline.plays.length).toBe(8000);
  expect(plays.length).toBeGreaterThan(stratified.length);
});

test('a day is made of the same weekday of the weeks before, with the age that its episodes had', () => {
  const at = (day: number, hour: number) => startMs + day * dayMs + hour * 3_600_000;
  const plays = Array.from({ length: 14 }, (_, day) =>
    playOf({ atMs: at(day - 14, 9), publishedAtMs: at(day - 14, 6), listener: 'a', episodeId: `of day ${day % 7}` }),
  );
  const projected = projectPlays(plays, days);
  expect(projected.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(7, 9);
  for (const play of projected) {
    expect(play.episodeId).toBe(`of day ${Math.floor((play.atMs - startMs) / dayMs)}`);
    expect(play.atMs - play.publishedAtMs).toBe(3 * 3_600_000);
  }
  expect(new Set(projected.map(({ listener }) => listener))).toEqual(new Set(['a', 'a+1']));
});
