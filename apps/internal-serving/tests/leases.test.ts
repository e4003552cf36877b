import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPool, type Pool } from '@longwave/postgres';
import type { DecideResponse } from '@longwave/rpc/serving';
import { until } from '@longwave/test-kit';
import { Redis } from 'ioredis';
import { closeLeases, grant, leasesOf } from './_leases.ts';
import { guaranteed, lineItem, playOf, preroll, untilDecidedBy, type Node } from './_support.ts';
import { slotsOf, startTwoNodes, type TwoNodes } from './_two-nodes.ts';

let two: TwoNodes;
let pool: Pool;
let epochs: [number, number];

const liveNodes = async () => {
  const { rows } = await pool.query<{ epoch: number; mode: string }>(
    `select node_epoch::float8 as epoch, mode from serving_node where closed_at is null and seen_at > to_timestamp(0) order by node_epoch`,
  );
  return rows;
};

beforeAll(async () => {
  two = await startTwoNodes('by hand');
  pool = createPool(two.engines.database.url, 'serving', { name: 'test', max: 4 });
  await until(async () => (await liveNodes()).filter(({ mode }) => mode === 'lease').length === 2);
  const live = await liveNodes();
  epochs = [live[0]!.epoch, live[1]!.epoch];
});

afterAll(async () => {
  await pool.end();
  await two[Symbol.asyncDispose]();
});

const demandOf = async (nodeEpoch: number, lineItemId: string) => {
  const { rows } = await pool.query<{ demand: { asked: number; used: number; refused: number } | null }>(
    'select demand -> $2 as demand from serving_node where node_epoch = $1',
    [nodeEpoch, lineItemId],
  );
  return rows[0]?.demand ?? { asked: 0, used: 0, refused: 0 };
};

/** Plays at a node until it gave so many slots of a line item. */
async function playUntil(workspaceId: string, node: Node, lineItemId: string, slots: number) {
  const answers: DecideResponse[] = [];
  await until(async () => {
    answers.push(await node.client.decide(playOf(workspaceId), {}));
    return slotsOf(answers, lineItemId) >= slots;
  });
  return answers;
}

test('two nodes give what their leases have to the last unit, to 30 plays at once that are each asked twice, without any goal in Redis', async () => {
  const booked = guaranteed(1_000);
  const house = lineItem();
  const workspaceId = await two.workspaceWith([booked, house]);
  const [id] = [booked.line_item_id];
  await grant(pool, epochs[0], id, { granted: 3 });
  await grant(pool, epochs[1], id, { granted: 4 });
  // The leases are known once a slot of each was given.
  const first = (await Promise.all(two.nodes.map((node) => playUntil(workspaceId, node, id, 1)))).flat();
  const plays = Array.from({ length: 30 }, () => playOf(workspaceId));
  const answers = await Promise.all(
    plays.flatMap((play, at) => [
      two.nodes[at % 2 ? 0 : 1].client.decide(play, {}),
      two.nodes[at % 3 ? 0 : 1].client.decide(play, {}),
    ]),
  );
  answers.forEach((answer, at) => expect(answer).toEqual(answers[at - (at % 2)]));
  const once = [...first, ...answers.filter((_, at) => at % 2 === 0)];
  for (const node of two.nodes)
    once.push(...(await Promise.all(plays.slice(0, 5).map(() => node.client.decide(playOf(workspaceId), {})))));
  expect(slotsOf(once, id)).toBe(7);
  expect(slotsOf(once, house.line_item_id)).toBe(once.length - 7);
  expect((await leasesOf(pool, id)).map(({ used }) => used)).toEqual([3, 4]);
  const redis = new Redis(two.engines.redis().url);
  expect(await redis.keys('goal:*')).toEqual([]);
  expect(await redis.keys('share:*')).toEqual([]);
  redis.disconnect();
  await until(async () => (await demandOf(epochs[0], id)).used === 3 && (await demandOf(epochs[1], id)).used === 4);
  // One decision in 16 tells of the line items that it did not look at.
  await until(async () => {
    await two.nodes[0].client.decide(playOf(workspaceId), {});
    return (await demandOf(epochs[0], id)).refused > 0;
  });
});

test('a node whose leases were closed behind its back decides its plays again without the line item', async () => {
  const booked = guaranteed(1_000);
  const house = lineItem();
  const workspaceId = await two.workspaceWith([booked, house]);
  await grant(pool, epochs[0], booked.line_item_id, { granted: 50 });
  const before = await playUntil(workspaceId, two.nodes[0], booked.line_item_id, 2);
  const breaks = [preroll, { ...preroll, key: 'post', position: 'post' }];
  // Not revised: the node still believes in 48 units.
  await pool.query('update quota_lease set granted = used, closed = true where line_item_id = $1', [
    booked.line_item_id,
  ]);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => two.nodes[0].client.decide(playOf(workspaceId, { breaks }), {})),
  );
  expect(slotsOf(answers, house.line_item_id)).toBe(40);
  expect((await leasesOf(pool, booked.line_item_id)).map(({ used }) => used)).toEqual([
    slotsOf(before, booked.line_item_id),
  ]);
  expect(two.nodes[0].log.some((line) => line.includes('decision.slots_refused'))).toBe(true);
  for (const { decisionId } of answers.slice(0, 3)) {
    const replayed = await two.engines.clientAs('operator', two.nodes[0].port).replay({ workspaceId, decisionId }, {});
    expect(replayed.status).toBe('identical');
  }
});

test('a node that was declared dead registers under a new epoch and serves by new leases only', async () => {
  const booked = guaranteed(1_000);
  const workspaceId = await two.workspaceWith([booked]);
  await grant(pool, epochs[1], booked.line_item_id, { granted: 10 });
  await playUntil(workspaceId, two.nodes[1], booked.line_item_id, 1);
  await pool.query('update serving_node set closed_at = now() where node_epoch = $1', [epochs[1]]);
  await until(async () => (await liveNodes()).some(({ epoch, mode }) => epoch > epochs[1] && mode === 'lease'));
  const epoch = (await liveNodes()).at(-1)!.epoch;
  expect((await two.nodes[1].client.decide(playOf(workspaceId), {})).noAdReason).toBe('no_lease');
  await grant(pool, epoch, booked.line_item_id, { granted: 10 });
  await playUntil(workspaceId, two.nodes[1], booked.line_item_id, 1);
  await closeLeases(pool, epochs[1]);
  epochs[1] = epoch;
});

test('without Redis goals and shares serve', async () => {
  const booked = guaranteed(1_000);
  const sponsor = lineItem({ type: 'sponsorship', goal: { unit: 'share_pct', quantity: 50 } });
  const workspaceId = await two.workspaceWith([booked, sponsor]);
  await grant(pool, epochs[0], booked.line_item_id, { granted: 20 });
  await playUntil(workspaceId, two.nodes[0], booked.line_item_id, 1);
  await two.engines.stopRedis();
  try {
    const answers: DecideResponse[] = [];
    for (let play = 0; play < 10; play++)
      answers.push(
        await two.nodes[0].client.decide(playOf(workspaceId, { listenerBucket: Buffer.alloc(0) }), {
          deadlineMs: 1_000,
        }),
      );
    expect(slotsOf(answers, sponsor.line_item_id)).toBeGreaterThanOrEqual(4);
    expect(slotsOf(answers, booked.line_item_id) + slotsOf(answers, sponsor.line_item_id)).toBe(10);
  } finally {
    await two.engines.startRedis();
  }
});

/** Everything that is stored, but for what a node reports of itself each second; and all that Redis holds. */
async function stored() {
  const { rows } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'serving' and table_type = 'BASE TABLE' and table_name <> 'serving_node' order by 1`,
  );
  const tables = rows.map(({ name }) => `select $$${name}$$ as name, to_jsonb(one)::text as row from "${name}" one`);
  const redis = new Redis(two.engines.redis().url);
  const keys = (await redis.keys('listener:*')).sort();
  const records = await Promise.all(keys.map((key) => redis.get(key)));
  redis.disconnect();
  return { rows: (await pool.query(`${tables.join(' union all ')} order by 1, 2`)).rows, keys, records };
}

test('a preview decides as a play does, of the same line items, and no decision, lease, cap, share or count changes', async () => {
  const booked = guaranteed(1_000);
  const sponsor = lineItem({ type: 'sponsorship', goal: { unit: 'share_pct', quantity: 50 } });
  const capped = lineItem({ frequency_caps: [{ max: 1, per: 'listener_bucket', window_seconds: 86_400 }] });
  const workspaceId = await two.workspaceWith([booked, sponsor, capped]);
  const [node] = two.nodes;
  await grant(pool, epochs[0], booked.line_item_id, { granted: 5 });
  await playUntil(workspaceId, node, booked.line_item_id, 1);
  const breaks = [{ ...preroll, maxSlots: 2, maxDurationMs: 120_000n }];
  const preview = (asPaced = true) =>
    node.client.previewDecision({ play: playOf(workspaceId, { breaks, country: 'FR' }), asPaced }, {});

  let answers: Awaited<ReturnType<typeof preview>>[] = [];
  // What plays write behind their answers may come meanwhile: then it is tried once more. What a preview writes would come each time.
  await until('20 previews that leave everything as it was', async () => {
    const before = JSON.stringify(await stored());
    answers = [];
    for (let at = 0; at < 20; at++) answers.push(await preview());
    return JSON.stringify(await stored()) === before;
  });
  // 20 previews did not use up the four units that are left, and the cap of a listener is never reached.
  const heard = answers.map(({ answer }) => answer!.picks.map(({ lineItemId }) => lineItemId));
  for (const picks of heard) expect(picks).toHaveLength(2);
  expect(heard.at(-1)).toContain(booked.line_item_id);
  const trace = JSON.parse(answers[0]!.traceJson) as { candidates: { line_item_id: string; verdict: string }[] };
  expect(trace.candidates.filter(({ verdict }) => verdict === 'won')).toHaveLength(2);
  expect(answers[0]!.answer!.decisionId).not.toBe(answers[1]!.answer!.decisionId);
});

test('a preview of another time than now gives goals room that have no lease, and one of now says that they have none', async () => {
  const booked = guaranteed(1_000);
  const workspaceId = await two.workspaceWith([booked]);
  const ask = async (asPaced: boolean) =>
    (await two.nodes[0].client.previewDecision({ play: playOf(workspaceId), asPaced }, {})).answer!;
  expect(await ask(true)).toMatchObject({ picks: [], noAdReason: 'no_lease' });
  expect((await ask(false)).picks.map(({ lineItemId }) => lineItemId)).toEqual([booked.line_item_id]);
  const stranger = two.engines.clientAs('operator', two.nodes[0].port);
  await expect(stranger.previewDecision({ play: playOf(workspaceId), asPaced: true }, {})).rejects.toMatchObject({
    code: 'permission_denied',
  });
  stranger.close();
});

test('a node that ends finishes the plays on their way, and gives back what it has left of its leases', async () => {
  const booked = guaranteed(1_000);
  const workspaceId = await two.workspaceWith([booked]);
  const node = await two.engines.startNode();
  const epoch = (await liveNodes()).at(-1)!.epoch;
  await grant(pool, epoch, booked.line_item_id, { granted: 30 });
  const { servingPlanId } = await two.nodes[0].client.decide(playOf(workspaceId), {});
  await untilDecidedBy(node, workspaceId, servingPlanId);
  const before = await playUntil(workspaceId, node, booked.line_item_id, 1);
  const caller = two.engines.clientAs('public-delivery', node.port);
  const underWay = Array.from({ length: 5 }, () => caller.decide(playOf(workspaceId), {}));
  await Promise.race(underWay);
  const outcomes = await Promise.allSettled([...underWay, node[Symbol.asyncDispose]()]);
  caller.close();
  const answers = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' && outcome.value ? [outcome.value] : [],
  );
  const used = slotsOf([...before, ...answers], booked.line_item_id);
  expect(await leasesOf(pool, booked.line_item_id)).toEqual([{ nodeEpoch: epoch, granted: used, used, closed: false }]);
  expect((await liveNodes()).map((one) => one.epoch)).not.toContain(epoch);
});
