import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DecideResponse } from '@longwave/rpc/serving';
import { until } from '@longwave/test-kit';
import { Redis } from 'ioredis';
import { guaranteed, lineItem, playOf, preroll, untilDecidedBy } from './_support.ts';
import { slotsOf, startTwoNodes, type TwoNodes } from './_two-nodes.ts';

let two: TwoNodes;
beforeAll(async () => {
  two = await startTwoNodes();
});
afterAll(async () => two[Symbol.asyncDispose]());

/** A workspace whose plan both nodes use, with the counters of its goals in place. */
async function workspaceWith(lines: Parameters<TwoNodes['workspaceWith']>[0]): Promise<string> {
  const workspaceId = await two.workspaceWith(lines);
  await untilCounted(lines.filter((line) => line.goal.quantity !== undefined).map((line) => line.line_item_id));
  return workspaceId;
}

async function counterOf(lineItemId: string): Promise<string | null> {
  const redis = new Redis(two.engines.redis().url);
  try {
    return await redis.get(`goal:${lineItemId}`);
  } finally {
    redis.disconnect();
  }
}

const untilCounted = async (lineItemIds: readonly string[]) => {
  for (const lineItemId of lineItemIds) await until(async () => (await counterOf(lineItemId)) !== null);
};

test('a goal of 5 gives exactly 5 slots to 20 plays at once on two nodes, each asked twice', async () => {
  const booked = guaranteed(5);
  const house = lineItem();
  const workspaceId = await workspaceWith([booked, house]);
  const plays = Array.from({ length: 20 }, () => playOf(workspaceId));
  const answers = await Promise.all(
    plays.flatMap((play, at) => [
      two.nodes[at % 2 ? 0 : 1].client.decide(play, {}),
      two.nodes[at % 3 ? 0 : 1].client.decide(play, {}),
    ]),
  );
  answers.forEach((answer, at) => expect(answer).toEqual(answers[at - (at % 2)]));
  const once = answers.filter((_, at) => at % 2 === 0);
  while (slotsOf(once, booked.line_item_id) < 5) once.push(await two.nodes[0].client.decide(playOf(workspaceId), {}));
  for (let play = 0; play < 10; play++) once.push(await two.nodes[play % 2]!.client.decide(playOf(workspaceId), {}));

  expect(slotsOf(once, booked.line_item_id)).toBe(5);
  expect(slotsOf(once, house.line_item_id)).toBe(once.length - 5);
  expect(await counterOf(booked.line_item_id)).toBe('5');
});

test('a goal is met to the last slot by plays that could take two', async () => {
  const booked = guaranteed(5);
  const workspaceId = await workspaceWith([booked]);
  const breaks = [preroll, { ...preroll, key: 'post', position: 'post' }];
  const answers: DecideResponse[] = [];
  await until(async () => {
    const more = await Promise.all(two.nodes.map((node) => node.client.decide(playOf(workspaceId, { breaks }), {})));
    answers.push(...more);
    return more.every((answer) => answer.picks.length === 0);
  });
  expect(slotsOf(answers, booked.line_item_id)).toBe(5);
  expect(answers.at(-1)!.noAdReason).toBe('no_lease');
});

test('a goal raised by a newer plan continues from its count, and retries count nothing', async () => {
  const booked = guaranteed(2);
  const workspaceId = await workspaceWith([booked]);
  const play = playOf(workspaceId);
  const answers = [await two.nodes[0].client.decide(play, {})];
  const more = { ...booked, goal: { unit: 'impressions' as const, quantity: 4 } };
  const { servingPlanId } = await two.engines.publishPlan(workspaceId, [more]);
  for (const node of two.nodes) await untilDecidedBy(node, workspaceId, servingPlanId);
  for (let retry = 0; retry < 5; retry++)
    expect(await two.nodes[retry % 2]!.client.decide(play, {})).toEqual(answers[0]);
  await until(async () => {
    answers.push(await two.nodes[answers.length % 2]!.client.decide(playOf(workspaceId), {}));
    return slotsOf(answers, booked.line_item_id) === 4;
  });
  for (let at = 0; at < 10; at++) answers.push(await two.nodes[at % 2]!.client.decide(playOf(workspaceId), {}));
  expect(slotsOf(answers, booked.line_item_id)).toBe(4);
  expect(await counterOf(booked.line_item_id)).toBe('4');
});

test('without Redis goals do not serve and the rest does; an empty Redis is filled from the stored decisions', async () => {
  const booked = guaranteed(5);
  const house = lineItem();
  const workspaceId = await workspaceWith([booked, house]);
  const before: DecideResponse[] = [];
  await until(async () => {
    before.push(await two.nodes[0].client.decide(playOf(workspaceId), {}));
    return slotsOf(before, booked.line_item_id) === 3;
  });

  await two.engines.stopRedis();
  for (const node of two.nodes) {
    const answer = await node.client.decide(playOf(workspaceId), { deadlineMs: 1_000 });
    expect(answer.picks.map((pick) => pick.lineItemId)).toEqual([house.line_item_id]);
  }
  await two.engines.startRedis();
  await untilCounted([booked.line_item_id]);
  expect(await counterOf(booked.line_item_id)).toBe('3');
  const after: DecideResponse[] = [];
  await until(async () => {
    after.push(await two.nodes[after.length % 2]!.client.decide(playOf(workspaceId), {}));
    return slotsOf(after, booked.line_item_id) === 2;
  });
  for (let play = 0; play < 10; play++) after.push(await two.nodes[play % 2]!.client.decide(playOf(workspaceId), {}));
  expect(slotsOf(after, booked.line_item_id)).toBe(2);
});

test('a counter that vanished is restored before its goal serves again', async () => {
  const booked = guaranteed(3);
  const workspaceId = await workspaceWith([booked]);
  const answers: DecideResponse[] = [];
  await until(async () => {
    answers.push(await two.nodes[0].client.decide(playOf(workspaceId), {}));
    return slotsOf(answers, booked.line_item_id) === 2;
  });
  const redis = new Redis(two.engines.redis().url);
  await redis.flushall();
  redis.disconnect();
  await until(async () => {
    answers.push(await two.nodes[answers.length % 2]!.client.decide(playOf(workspaceId), {}));
    return slotsOf(answers, booked.line_item_id) === 3;
  });
  for (let play = 0; play < 10; play++) answers.push(await two.nodes[play % 2]!.client.decide(playOf(workspaceId), {}));
  expect(slotsOf(answers, booked.line_item_id)).toBe(3);
});
