import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startTestRedis, type TestRedis } from '@longwave/fleet';
import { createLogger } from '@longwave/service-kit';
import { Redis } from 'ioredis';
import { createGoalGuard, type GoalGuard } from '../src/goals/goal-guard.ts';

let server: TestRedis;
let redis: Redis;
let stored: Map<string, number>;

beforeAll(async () => {
  server = await startTestRedis();
  redis = new Redis(server.url);
});

beforeEach(async () => {
  await redis.flushdb();
  stored = new Map();
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const endsAtMs = Date.now() + 3_600_000;
const createGuard = () => createGoalGuard(redis, async () => stored, createLogger('test', 'silent'));
const countersOf = async (...lineItemIds: string[]) => redis.mget(lineItemIds.map((id) => `goal:${id}`));
const wanted = (lineItemId: string, slots = 1, goalQuantity = 3) => ({ lineItemId, slots, goalQuantity });
const recounted = async (...lineItemIds: string[]): Promise<GoalGuard> => {
  const guard = createGuard();
  await guard.recount(lineItemIds.map((lineItemId) => ({ lineItemId, endsAtMs })));
  return guard;
};

test('a line item has no slots left until its counter was compared with the stored decisions', async () => {
  const guard = createGuard();
  expect(guard.remaining('li_a')).toBe(0);
  stored.set('li_a', 2);
  await guard.recount([{ lineItemId: 'li_a', endsAtMs }]);
  expect(guard.remaining('li_a')).toBe(Infinity);
  expect(await countersOf('li_a')).toEqual(['2']);
  expect(await guard.reserve('dec_1', 'first', [wanted('li_a', 2)])).toEqual({
    kind: 'refused',
    maxSlots: new Map([['li_a', 1]]),
  });
  expect(guard.remaining('li_a')).toBe(1);
});

test('a recount never lowers a counter', async () => {
  const guard = await recounted('li_a');
  await guard.reserve('dec_1', 'first', [wanted('li_a', 3)]);
  stored.set('li_a', 1);
  await recounted('li_a');
  expect(await countersOf('li_a')).toEqual(['3']);
});

test('slots of one decision are counted all or nothing', async () => {
  const guard = await recounted('li_a', 'li_b');
  await guard.reserve('dec_1', 'first', [wanted('li_b', 3)]);
  const refusal = await guard.reserve('dec_2', 'first', [wanted('li_a'), wanted('li_b')]);
  expect(refusal).toEqual({ kind: 'refused', maxSlots: new Map([['li_b', 0]]) });
  expect(await countersOf('li_a', 'li_b')).toEqual(['0', '3']);
});

test('attempts of one decision count once, and only the one that counted can release', async () => {
  const guard = await recounted('li_a');
  const slots = [
    { lineItemId: 'li_a', attempt: 'first' },
    { lineItemId: 'li_a', attempt: 'first' },
  ];
  expect(await guard.reserve('dec_1', 'first', [wanted('li_a', 2)])).toEqual({ kind: 'counted', slots });
  expect(await guard.reserve('dec_1', 'second', [wanted('li_a', 2)])).toEqual({ kind: 'counted', slots });
  expect(await countersOf('li_a')).toEqual(['2']);
  await guard.release('dec_1', [{ lineItemId: 'li_a', attempt: 'second' }]);
  expect(await countersOf('li_a')).toEqual(['2']);
  await guard.release('dec_1', slots);
  await guard.release('dec_1', slots);
  expect(await countersOf('li_a')).toEqual(['0']);
});

test('an attempt for another number of slots than an earlier one gets no more than the earlier one', async () => {
  const guard = await recounted('li_a');
  await guard.reserve('dec_1', 'first', [wanted('li_a')]);
  const more = await guard.reserve('dec_1', 'second', [wanted('li_a', 2)]);
  expect(more).toEqual({ kind: 'refused', maxSlots: new Map([['li_a', 1]]) });
  expect(guard.remaining('li_a')).toBe(Infinity);
  expect(await countersOf('li_a')).toEqual(['1']);
});

test('a counter that vanished is refused and no longer trusted', async () => {
  const guard = await recounted('li_a');
  await redis.flushdb();
  expect(await guard.reserve('dec_1', 'first', [wanted('li_a')])).toMatchObject({ kind: 'refused' });
  expect(guard.remaining('li_a')).toBe(0);
});

test('a script that Redis forgot is sent again', async () => {
  const guard = await recounted('li_a');
  await redis.script('FLUSH');
  const slots = [{ lineItemId: 'li_a', attempt: 'first' }];
  expect(await guard.reserve('dec_1', 'first', [wanted('li_a')])).toEqual({ kind: 'counted', slots });
  expect(guard.remaining('li_a')).toBe(Infinity);
});

test('counters are forgotten a week after the window, markers of a decision within the hour', async () => {
  const guard = await recounted('li_a');
  await guard.reserve('dec_1', 'first', [wanted('li_a')]);
  const weekMs = 7 * 86_400_000;
  expect(await redis.pexpiretime('goal:li_a')).toBe(endsAtMs + weekMs);
  expect(await redis.pttl('goal:li_a:dec_1')).toBeLessThanOrEqual(3_600_000);
});
