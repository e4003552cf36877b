import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import type { DecideResponse } from '@longwave/rpc/serving';
import { until } from '@longwave/test-kit';
import { Redis } from 'ioredis';
import { createShareCounts, type HourlyShare } from '../src/shares/share-counts.ts';
import { lineItem, playOf, startEngines, untilDecidedBy, type Engines, type Node } from './_support.ts';

let engines: Engines;
let nodes: [Node, Node];
let redis: Redis;

beforeAll(async () => {
  engines = await startEngines();
  nodes = [await engines.startNode(), await engines.startNode()];
  redis = new Redis(engines.redis().url);
});

afterAll(async () => {
  redis.disconnect();
  for (const node of nodes) await node[Symbol.asyncDispose]();
  await engines[Symbol.asyncDispose]();
});

const servedOf = (answers: readonly DecideResponse[], lineItemId: string) =>
  answers.flatMap((answer) => answer.picks).filter((pick) => pick.lineItemId === lineItemId).length;

test('two nodes give a sponsorship its share of the breaks, also after Redis lost its memory', async () => {
  const sponsor = lineItem({ type: 'sponsorship', goal: { unit: 'share_pct', quantity: 25 } });
  const workspaceId = newId('ws');
  const { servingPlanId } = await engines.publishPlan(workspaceId, [sponsor, lineItem()]);
  for (const node of nodes) await untilDecidedBy(node, workspaceId, servingPlanId);
  const answers: DecideResponse[] = [];
  const play = async (node: Node, count: number) => {
    for (let at = 0; at < count; at++) answers.push(await node.client.decide(playOf(workspaceId), {}));
  };
  const counted = async () => {
    const fields = await redis.hgetall(`share:${sponsor.line_item_id}`);
    return Object.entries(fields).reduce(
      (sum, [name, value]) => (name.startsWith('opp') ? sum + Number(value) : sum),
      0,
    );
  };
  await play(nodes[0], 40);
  await until(async () => (await counted()) === 40);
  expect(servedOf(answers, sponsor.line_item_id)).toBe(10);
  await redis.flushall();
  await until(async () => (await counted()) === 40);
  await play(nodes[1], 40);
  await until(async () => (await counted()) === answers.length);
  const share = servedOf(answers, sponsor.line_item_id) / answers.length;
  expect(share).toBeGreaterThan(0.2);
  expect(share).toBeLessThan(0.3);
});

test('counts older than a day leave the window, and every node sees the counts of all', async () => {
  const hourMs = 3_600_000;
  let nowMs = Date.UTC(2026, 5, 1, 12, 30);
  const stored: HourlyShare[] = [];
  const create = () =>
    createShareCounts(
      redis,
      async () => stored,
      () => new Date(nowMs),
    );
  const [one, other] = [create(), create()];
  const lineItemId = newId('li');
  for (const counts of [one, other]) await counts.exchange([lineItemId]);
  one.count(nowMs, [lineItemId, lineItemId], [lineItemId]);
  expect(one.shareOf(lineItemId)).toEqual({ served: 1, opportunities: 2 });
  other.count(nowMs, [lineItemId], []);
  for (const counts of [one, other, one]) await counts.exchange([lineItemId]);
  for (const counts of [one, other]) expect(counts.shareOf(lineItemId)).toEqual({ served: 1, opportunities: 3 });
  nowMs += 23 * hourMs;
  await one.exchange([lineItemId]);
  expect(one.shareOf(lineItemId)).toEqual({ served: 1, opportunities: 3 });
  nowMs += hourMs;
  await one.exchange([lineItemId]);
  expect(one.shareOf(lineItemId)).toEqual({ served: 0, opportunities: 0 });
});

test('a counter that vanished is raised to the stored decisions, and what was counted meanwhile counts once', async () => {
  const nowMs = Date.UTC(2026, 5, 1, 12, 30);
  const hour = Math.floor(nowMs / 3_600_000);
  const lineItemId = newId('li');
  const stored: HourlyShare[] = [];
  const counts = createShareCounts(
    redis,
    async () => stored,
    () => new Date(nowMs),
  );
  await counts.exchange([lineItemId]);
  counts.count(nowMs, [lineItemId], [lineItemId]);
  stored.push({ lineItemId, hour, served: 1, opportunities: 1 });
  await counts.exchange([lineItemId]);
  await redis.del(`share:${lineItemId}`);
  await counts.exchange([lineItemId]);
  counts.count(nowMs, [lineItemId], []);
  stored[0] = { lineItemId, hour, served: 1, opportunities: 2 };
  await counts.exchange([lineItemId]);
  expect(counts.shareOf(lineItemId)).toEqual({ served: 1, opportunities: 2 });
  expect(await redis.pttl(`share:${lineItemId}`)).toBeGreaterThan(47 * 3_600_000);
});

test('a counter that vanished while more was counted is raised all the same', async () => {
  const nowMs = Date.UTC(2026, 5, 1, 12, 30);
  const lineItemId = newId('li');
  const stored: HourlyShare[] = [{ lineItemId, hour: Math.floor(nowMs / 3_600_000), served: 10, opportunities: 40 }];
  const counts = createShareCounts(
    redis,
    async () => stored,
    () => new Date(nowMs),
  );
  await counts.exchange([lineItemId]);
  await redis.del(`share:${lineItemId}`);
  counts.count(nowMs, [lineItemId], [lineItemId]);
  stored[0] = { ...stored[0]!, served: 11, opportunities: 41 };
  await counts.exchange([lineItemId]);
  expect(counts.shareOf(lineItemId)).toEqual({ served: 11, opportunities: 41 });
});

test('counts that could not be sent while Redis did not answer are sent when it answers', async () => {
  const nowMs = Date.UTC(2026, 5, 1, 12, 30);
  const hour = Math.floor(nowMs / 3_600_000);
  const lineItemIds = [newId('li'), newId('li')];
  const impatient = new Redis(engines.redis().url, { commandTimeout: 100 });
  await using _ = { [Symbol.asyncDispose]: async () => impatient.disconnect() };
  let served = 0;
  const counts = createShareCounts(
    impatient,
    async (ids) => ids.map((lineItemId) => ({ lineItemId, hour, served, opportunities: served })),
    () => new Date(nowMs),
  );
  await counts.exchange(lineItemIds);
  served = 1;
  counts.count(nowMs, lineItemIds, lineItemIds);
  await redis.client('PAUSE', 300);
  await expect(counts.exchange(lineItemIds)).rejects.toThrow('timed out');
  await until(() =>
    counts.exchange(lineItemIds).then(
      () => true,
      () => false,
    ),
  );
  for (const id of lineItemIds) expect(counts.shareOf(id)).toEqual({ served: 1, opportunities: 1 });
});
