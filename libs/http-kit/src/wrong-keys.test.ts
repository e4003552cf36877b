import { expect, test } from '@jest/globals';
import { maxEntries, limitWrongKeys, refusedMs, maxWaitMs, wrongPerMinute } from './wrong-keys.ts';

/** What a look-up answers in these tests. */
interface Outcome {
  readonly says: 'accepted' | 'unknown' | 'other';
}
const unknown: Outcome = { says: 'unknown' };
const suspended: Outcome = { says: 'other' };
const known: Outcome = { says: 'accepted' };
const judge = ({ says }: Outcome) => says;

/** A limit over credentials in a map, with a clock that the test moves. */
function createDoor() {
  const outcomes = new Map<string, Outcome>();
  const lookups: string[] = [];
  const waits: number[] = [];
  let nowMs = 1_000_000;
  const limit = limitWrongKeys({
    clock: () => new Date(nowMs),
    pause: async (ms) => void waits.push(ms),
    judge,
    unknown,
  });
  return {
    outcomes,
    lookups,
    waits,
    later: (ms: number) => void (nowMs += ms),
    ask: (credential: string, address = '192.0.2.1') =>
      limit(credential, address, async () => {
        lookups.push(credential);
        return outcomes.get(credential) ?? unknown;
      }),
  };
}

test('a wrong key is looked up once in 5 s, however often it comes; one created meanwhile works after these 5 s', async () => {
  const door = createDoor();
  for (let i = 0; i < 20; i++) expect(await door.ask('k')).toEqual(unknown);
  expect(door.lookups).toEqual(['k']);
  door.outcomes.set('k', known);
  door.later(refusedMs - 1);
  expect(await door.ask('k')).toEqual(unknown);
  door.later(1);
  expect(await door.ask('k')).toBe(known);
});

test('an unused valid key works at once, also from an address that sent many wrong ones', async () => {
  const door = createDoor();
  for (let i = 0; i < 2 * wrongPerMinute; i++) await door.ask(`wrong${i}`);
  door.outcomes.set('new', known);
  expect(await door.ask('new')).toBe(known);
});

test('a key that was valid a moment ago is looked up each time, and any refusal but "unknown" is never remembered', async () => {
  const door = createDoor();
  door.outcomes.set('k', known);
  await door.ask('k');
  door.outcomes.set('k', unknown);
  expect(await door.ask('k')).toEqual(unknown);
  door.outcomes.set('k', known);
  expect(await door.ask('k')).toBe(known);
  door.outcomes.set('s', suspended);
  expect(await door.ask('s')).toBe(suspended);
  door.outcomes.set('s', known);
  expect(await door.ask('s')).toBe(known);
});

test('a refusal that arrives after the key was accepted does not outlive it', async () => {
  const gate = Promise.withResolvers<void>();
  const limit = limitWrongKeys({ clock: () => new Date(0), pause: async () => undefined, judge, unknown });
  const late = limit('k', '192.0.2.1', async () => {
    await gate.promise;
    return unknown;
  });
  expect(await limit('k', '192.0.2.1', async () => known)).toBe(known);
  gate.resolve();
  await late;
  expect(await limit('k', '192.0.2.1', async () => known)).toBe(known);
});

test('after 60 wrong keys in a minute an address waits longer and longer, at most 2 s; others and known keys do not wait', async () => {
  const door = createDoor();
  door.outcomes.set('known', known);
  await door.ask('known');
  for (let i = 0; i < wrongPerMinute; i++) await door.ask(`wrong${i}`);
  expect(door.waits).toEqual([]);
  await door.ask('known');
  await door.ask('wrong', '192.0.2.2');
  expect(door.waits).toEqual([]);
  for (let i = 0; i < 50; i++) await door.ask(`more${i}`);
  expect(door.waits.slice(0, 3)).toEqual([50, 100, 150]);
  expect(Math.max(...door.waits)).toBe(maxWaitMs);
  expect(door.waits).toHaveLength(50);
  door.later(60_000);
  await door.ask('calm');
  expect(door.waits).toHaveLength(50);
});

test('of wrong keys the newest 10000 are remembered, so memory is bounded', async () => {
  const door = createDoor();
  for (let i = 0; i <= maxEntries; i++) await door.ask(`wrong${i}`, `address${i}`);
  door.lookups.length = 0;
  await door.ask(`wrong${maxEntries}`);
  await door.ask('wrong0');
  expect(door.lookups).toEqual(['wrong0']);
});
