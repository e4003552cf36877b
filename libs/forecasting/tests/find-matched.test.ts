import { expect, test } from '@jest/globals';
import { buildIndex, decide, freshInputs, verdictCodes } from '@longwave/ad-decision';
import { findMatched } from '../src/index.ts';
import { bookedWeek, slotsOf } from './_world.ts';

const { world, plays: all, plan } = bookedWeek({ seed: 21, playsPerDay: 3000, bookedShare: 0.4 });
const plays = all.filter((_, at) => at % 7 === 0).map((play, at) => ({ ...play, weight: 1 + (at % 3) }));

test('matched is what the core gives a line item that stands alone, break by break', () => {
  for (const line of plan.line_items.slice(0, 6)) {
    const alone = { ...line, goal: { unit: 'unlimited' as const }, frequency_caps: [] };
    const none = { scope: 'none' } as const;
    const index = buildIndex({
      ...{ ...plan, line_items: [alone], floors: [] },
      separation: { advertiser: none, group: none, category: none },
    });
    let capacity = 0;
    for (const play of plays) {
      const context = { ...play, decisionId: 'd', loudnessLufs: undefined };
      capacity += decide(index, context, freshInputs).picks.length * play.weight;
    }
    expect(findMatched(line, plays, { timeZone: 'UTC' }).capacity).toBeCloseTo(capacity, 6);
  }
});

test('every slot has one verdict: those that fit and the funnel together are all that was offered', () => {
  for (const line of plan.line_items) {
    const { offered, opportunities, capacity, funnel, byPodcast, byDay, byPosition } = findMatched(line, plays, {
      timeZone: 'Europe/Berlin',
    });
    expect(offered).toBeCloseTo(slotsOf(plays), 6);
    expect(opportunities + funnel.reduce((sum, one) => sum + one.opportunities, 0)).toBeCloseTo(offered, 6);
    for (const parts of [byPodcast, byDay, byPosition])
      expect([...parts.values()].reduce((sum, one) => sum + one.capacity, 0)).toBeCloseTo(capacity, 6);
    const places = funnel.map(({ code }) => verdictCodes.indexOf(code));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  }
});

test('a window, a goal and a cap of the line item are no matter of what fits', () => {
  const [line] = plan.line_items;
  const later = {
    ...line!,
    window: { start: '2027-01-01T00:00:00Z', end: '2027-02-01T00:00:00Z' },
    frequency_caps: [{ max: 1, per: 'listener_bucket' as const, window_seconds: 86_400 }],
    goal: { unit: 'impressions' as const, quantity: 1 },
  };
  expect(findMatched(later, plays, { timeZone: 'UTC' })).toEqual(findMatched(line!, plays, { timeZone: 'UTC' }));
});

test('the sampling error says how far samples of listeners are from the truth', () => {
  const line = plan.line_items.find(({ targeting }) => targeting.countries.include.length > 0)!;
  const truth = findMatched(line, all, { timeZone: 'UTC' });
  const podcastPlays = new Map(world.podcasts.map(({ podcastId }) => [podcastId, 0]));
  for (const { podcastId } of all) podcastPlays.set(podcastId, podcastPlays.get(podcastId)! + 1);
  const sampled = all.filter(({ listener }) => Number(listener.split('-')[1]) % 4 === 0);
  const sums = new Map<string, number>();
  for (const { podcastId } of sampled) sums.set(podcastId, (sums.get(podcastId) ?? 0) + 1);
  const weighted = sampled.map((play) => ({
    ...play,
    weight: podcastPlays.get(play.podcastId)! / sums.get(play.podcastId)!,
  }));
  const { capacity, samplingError } = findMatched(line, weighted, { timeZone: 'UTC' });
  expect(samplingError).toBeGreaterThan(0);
  expect(Math.abs(capacity / truth.capacity - 1)).toBeLessThan(4 * samplingError);
});
