import { expect, test } from '@jest/globals';
import { anyTargeting, type PlanLineItem } from '@longwave/events';
import type { Check } from './ask-in-time.ts';
import { createAhead, type Seller } from './make-ahead.ts';
import { TookTooLong, type ComputeThread } from './thread.ts';

const line = { targeting: anyTargeting } as PlanLineItem;
const stays = new AbortController().signal;
const minuteMs = 60_000;

/** A thread for whose workspaces so many parts are to be made, and a clock that stands. */
function createWorld() {
  const made: string[] = [];
  const world = {
    made,
    parts: 1,
    processorMs: 0,
    nowMs: 0,
    errors: [] as unknown[],
    failure: undefined as Error | undefined,
    hasRoom: true,
    sellers: [] as Seller[],
    lists: 0,
  };
  let left = 0;
  const ask = async ({ type, workspaceId }: { readonly type: string; readonly workspaceId: string }) => {
    if (world.failure) throw world.failure;
    if (type === 'read') return world.hasRoom;
    if (made.at(-1) !== workspaceId || left === 0) left = world.parts + 1;
    made.push(workspaceId);
    return { isMade: --left > 0, processorMs: world.processorMs };
  };
  const { noting, look } = createAhead({ ask } as unknown as ComputeThread, {
    ...{ onError: (error) => world.errors.push(error), nowMs: () => world.nowMs },
    listSellers: async () => {
      world.lists++;
      return world.sellers;
    },
  });
  const check = noting((async () => undefined) as unknown as Check);
  const question = (workspaceId: string) => ({ type: 'availability', workspaceId, line, deadlineMs: 1 }) as const;
  const askFor = (workspaceId: string) => check(question(workspaceId), stays);
  /** Looks until nobody is due. */
  const lookAt = async (nowMs: number) => {
    world.nowMs = nowMs;
    made.length = 0;
    while (await look(stays));
    return made.slice();
  };
  return Object.assign(world, { noting, look, question, askFor, lookAt });
}

test('after a question a workspace is looked at soon, then less often, and not half an hour later; parts are made until there are none', async () => {
  const world = createWorld();
  world.parts = 3;
  await world.askFor('ws_1');
  expect(await world.lookAt(999)).toEqual([]);
  expect(await world.lookAt(1_000)).toEqual(['ws_1', 'ws_1', 'ws_1', 'ws_1']);
  world.parts = 0;
  const looks: number[] = [];
  for (let nowMs = 2_000; nowMs < 40 * minuteMs; nowMs += 1_000)
    if ((await world.lookAt(nowMs)).length > 0) looks.push(nowMs);
  expect(looks.slice(0, 4)).toEqual([5_000, 20_000, 80_000, 140_000]);
  expect(looks.at(-1)).toBeLessThan(30 * minuteMs);
  expect(looks.at(-1)).toBeGreaterThan(29 * minuteMs - 1);
});

test('the ten workspaces that asked last are looked at, whoever has waited longest first', async () => {
  const world = createWorld();
  world.parts = 0;
  for (let at = 0; at < 11; at++) {
    world.nowMs = at;
    await world.askFor(`ws_${at}`);
  }
  world.nowMs = 11;
  await world.askFor('ws_1');
  const others = Array.from({ length: 9 }, (_, at) => `ws_${at + 2}`);
  expect(await world.lookAt(2_000)).toEqual([...others, 'ws_1']);
});

test('nothing is made while somebody waits for an answer, and a look ends after the part that is being made', async () => {
  const world = createWorld();
  world.parts = 100;
  await world.lookAt(0);
  await world.askFor('ws_1');
  const answered = Promise.withResolvers<void>();
  const check = world.noting((() => answered.promise) as unknown as Check);
  world.nowMs = 1_000;
  const looking = world.look(stays);
  const waiting = check(world.question('ws_2'), stays);
  await looking;
  expect(world.made).toEqual(['ws_1']);
  expect(await world.lookAt(20 * minuteMs)).toEqual([]);
  answered.resolve();
  await waiting;
  expect(await world.lookAt(20 * minuteMs)).toHaveLength(10);
});

test('a workspace whose part failed is left alone until it asks again, and one of which a part takes too long for an hour', async () => {
  const world = createWorld();
  for (const failure of [new Error('management is away'), new TookTooLong()]) {
    await world.askFor('ws_1');
    world.failure = failure;
    expect(await world.lookAt(world.nowMs + minuteMs)).toEqual([]);
    expect(world.errors.pop()).toBe(failure);
    world.failure = undefined;
    expect(await world.lookAt(world.nowMs + minuteMs)).toEqual([]);
  }
  await world.askFor('ws_1');
  expect(await world.lookAt(world.nowMs + minuteMs)).toEqual([]);
});

test('a workspace of which a part took more than five seconds of the processor is left to its questions for an hour: others wait for each part', async () => {
  const world = createWorld();
  world.parts = 5;
  await world.askFor('ws_1');
  world.processorMs = 5_001;
  expect(await world.lookAt(minuteMs)).toEqual(['ws_1']);
  expect(world.errors.pop()).toBeInstanceOf(TookTooLong);
  await world.askFor('ws_1');
  expect(await world.lookAt(world.nowMs + minuteMs)).toEqual([]);
  world.processorMs = 0;
  world.nowMs += 60 * minuteMs;
  await world.askFor('ws_1');
  expect(await world.lookAt(world.nowMs + minuteMs)).not.toEqual([]);
});

const sellersOf = (...ids: string[]) => ids.map((workspaceId): Seller => ({ workspaceId, flights: [] }));

test('workspaces that sell are looked at before their first question and then each minute, behind those that have asked', async () => {
  const world = createWorld();
  world.parts = 1;
  world.sellers = sellersOf('ws_1', 'ws_2');
  expect(await world.lookAt(0)).toEqual(['ws_1', 'ws_1', 'ws_2', 'ws_2']);
  world.parts = 0;
  expect(await world.lookAt(30_000)).toEqual([]);
  await world.askFor('ws_2');
  await world.askFor('ws_3');
  expect(await world.lookAt(minuteMs)).toEqual(['ws_2', 'ws_3', 'ws_1']);
  expect(world.lists).toBe(2);
  world.sellers = [];
  expect(await world.lookAt(3 * minuteMs)).toEqual(['ws_2', 'ws_3']);
});

test('ten workspaces that sell are looked at, and one for which there is no room is left alone for ten minutes', async () => {
  const world = createWorld();
  world.parts = 0;
  world.sellers = sellersOf(...Array.from({ length: 12 }, (_, at) => `ws_${at}`));
  expect(await world.lookAt(0)).toHaveLength(10);
  world.hasRoom = false;
  expect(await world.lookAt(minuteMs)).toEqual([]);
  world.hasRoom = true;
  expect(await world.lookAt(10 * minuteMs)).toEqual([]);
  expect(await world.lookAt(11 * minuteMs)).toHaveLength(10);
});
