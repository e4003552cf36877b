import { expect, test } from '@jest/globals';
import { projectPlays, thinSample, type SamplePlay } from '../src/index.ts';
import { dayMs, playOf, startMs } from './_world.ts';

/** Four weeks of plays of a large podcast of 3,000 listeners and a small one of 40. */
const plays: readonly SamplePlay[] = Array.from({ length: 40_000 }, (_, at) =>
  playOf({
    ...(at % 400 === 0
      ? { podcastId: 'pod_small', listener: `s${(at / 400) % 40}`, weight: 1 }
      : { podcastId: 'pod_large', listener: `l${(at * 7919) % 3000}`, weight: 3 }),
    atMs: startMs - 28 * dayMs + Math.floor((at * 28 * dayMs) / 40_000),
  }),
);
const of = (podcastId: string, all: readonly SamplePlay[]) => all.filter((play) => play.podcastId === podcastId);
const weightOf = (all: readonly SamplePlay[]) => all.reduce((sum, { weight }) => sum + weight, 0);

test('a part of a sample keeps small podcasts whole, whole listeners of large ones, and the weight of each', () => {
  const part = thinSample(plays, 8_000);
  expect(part.length).toBeGreaterThan(7_000);
  expect(part.length).toBeLessThan(9_000);
  expect(of('pod_small', part)).toEqual(of('pod_small', plays));
  for (const podcastId of ['pod_small', 'pod_large'])
    expect(weightOf(of(podcastId, part))).toBeCloseTo(weightOf(of(podcastId, plays)), 3);
  const counts = Map.groupBy(of('pod_large', plays), ({ listener }) => listener);
  for (const [listener, kept] of Map.groupBy(of('pod_large', part), (play) => play.listener))
    expect(kept).toHaveLength(counts.get(listener)!.length);
  expect(thinSample(plays, 40_000)).toBe(plays);
});

test('a window of a year is made of a bounded number of plays, which weigh as much as thirteen times the sample', () => {
  const year = { fromMs: startMs, toMs: startMs + 364 * dayMs, timeZone: 'UTC' };
  const projected = projectPlays(plays, year);
  expect(projected.length).toBeLessThan(110_000);
  expect(weightOf(projected) / (13 * weightOf(plays))).toBeCloseTo(1, 1);
  const share = weightOf(of('pod_small', projected)) / (13 * weightOf(of('pod_small', plays)));
  expect(Math.abs(share - 1)).toBeLessThan(0.15);
});
