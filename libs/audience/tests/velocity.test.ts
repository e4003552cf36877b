import { expect, test } from '@jest/globals';
import type { ByteRangeServed } from '@longwave/events';
import { keyDay, recount, velocityLimits } from '../src/index.ts';
import { fact, lists, player, seen } from './_facts.ts';

/** Whole downloads of so many episodes of one podcast by one listener, ten an hour. */
function spree(episodes: number, changes: Partial<ByteRangeServed> = {}): ByteRangeServed[] {
  return Array.from({ length: episodes }, (_, nth) => {
    const name = `${changes.listener_key ?? 'listener'}.${changes.podcast_id ?? 'pod_1'}.${nth}`;
    const at = new Date(Date.parse('2026-11-02T00:00:00Z') + nth * 60_000).toISOString();
    return fact({
      started_at: at,
      at,
      episode_id: `ep_${changes.podcast_id}.${nth}`,
      fact_id: name,
      request_id: name,
      ...changes,
    });
  });
}

const held = (facts: readonly ByteRangeServed[], released: readonly string[] = []) => {
  const decided = { limits: velocityLimits, released: new Set(released) };
  const { sessions, rollingDownloads } = recount([seen(player), ...facts], lists.userAgents, decided);
  const reasons = [...sessions, ...rollingDownloads].map((one) => one.held);
  return {
    all: reasons.length,
    of: [...new Set(reasons)],
    heldOnes: reasons.filter((one) => one !== undefined).length,
  };
};

test('rule 16: fifty episodes of a podcast a day are counted, with the fifty-first the whole day is held in every window', () => {
  expect(held(spree(50))).toEqual({ all: 100, of: [undefined], heldOnes: 0 });
  expect(held(spree(51))).toEqual({ all: 102, of: ['velocity_listener'], heldOnes: 102 });
});

test('rule 16: five hundred episodes of many podcasts are counted, one more holds the day', () => {
  const podcasts = Array.from({ length: 10 }, (_, nth) => spree(50, { podcast_id: `pod_${nth}` })).flat();
  expect(held(podcasts).of).toEqual([undefined]);
  const more = held([...podcasts, ...spree(1, { podcast_id: 'pod_x' })]);
  expect(more).toEqual({ all: 1002, of: ['velocity_listener'], heldOnes: 1002 });
});

test('rule 16: an address may have 2,000 downloads a day, unless the safe list holds it', () => {
  const listeners = (count: number, changes: Partial<ByteRangeServed>) =>
    Array.from({ length: count }, (_, nth) => spree(1, { ...changes, listener_key: `listener ${nth}` })).flat();
  expect(held(listeners(2_000, {})).of).toEqual([undefined]);
  expect(held(listeners(2_001, {})).of).toEqual(['velocity_address']);
  expect(held(listeners(2_001, { address_safe: true })).of).toEqual([undefined]);
});

test('requests below the threshold do not count towards a limit', () => {
  const tasted = spree(200).map((one) => ({ ...one, written: [[1000, 200_000]] as [number, number][] }));
  expect(held(tasted).heldOnes).toBe(0);
});

test('the days before and after a held day are not held', () => {
  const other = spree(1, {
    started_at: '2026-11-03T00:00:00.000Z',
    episode_id: 'ep_next',
    fact_id: 'n',
    request_id: 'n',
  });
  expect(held([...spree(51), ...other])).toMatchObject({ all: 104, heldOnes: 102 });
});

test('released downloads are counted', () => {
  expect(held(spree(51), [keyDay('listener', 'listener', '2026-11-02')]).heldOnes).toBe(0);
  expect(held(spree(51), [keyDay('listener', 'listener', '2026-11-03')]).heldOnes).toBe(102);
});
