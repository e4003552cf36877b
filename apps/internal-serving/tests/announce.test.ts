import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { decisionMadeSchema, topics, type DecisionMade } from '@longwave/events';
import { idToUuid, newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import { createAnnouncements } from '../src/decisions/announce-decisions.ts';
import { damage, decisionOf, filledAnswer, insertByRelease4, insertInto, readerOf } from './_decision.ts';
import { lineItem, playOf, preroll, startEngines, untilDecidedBy, type Engines, type Node } from './_support.ts';

let engines: Engines;
let pool: Pool;
let node: Node | undefined;

beforeAll(async () => {
  engines = await startEngines();
  node = await engines.startNode();
  pool = createPool(engines.database.url, 'serving', { name: 'test', max: 4 });
});

afterAll(async () => {
  await node?.[Symbol.asyncDispose]();
  await pool.end();
  await engines[Symbol.asyncDispose]();
});

/** Messages on the bus so far, by decision. */
async function collect() {
  const told = new Map<string, DecisionMade[]>();
  const subscription = await engines.bus().subscribe({
    topic: topics.decisions,
    group: newId('dec').toLowerCase(),
    handle: async (messages) => {
      for (const { payload, key } of messages) {
        const decision = decisionMadeSchema.parse(payload);
        expect(key).toBe(decision.decision_id);
        told.set(key, [...(told.get(key) ?? []), decision]);
      }
    },
  });
  return { told, [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose]() };
}

async function workspaceWith(lines: Parameters<Engines['publishPlan']>[1]): Promise<string> {
  const workspaceId = newId('ws');
  const { servingPlanId } = await engines.publishPlan(workspaceId, lines);
  await untilDecidedBy(node!, workspaceId, servingPlanId);
  return workspaceId;
}

/** Decisions that are not published yet. */
const waiting = async () =>
  (
    await pool.query(
      'select unnest(decision_ids) from announcement_batch union all select null from decision_announcement',
    )
  ).rowCount!;

test('every decision that filled slots is published once it is stored, with exactly its slots, and an empty one is not', async () => {
  const workspaceId = await workspaceWith([lineItem(), lineItem({ type: 'guaranteed', billable: true })]);
  await using collected = await collect();
  const play = playOf(workspaceId, { breaks: [{ ...preroll, maxSlots: 2 }] });
  const { picks } = await node!.client.decide(play, {});
  await node!.client.decide(play, {});
  const empty = playOf(newId('ws'));
  await node!.client.decide(empty, {});
  const later = playOf(workspaceId, { country: '', surface: 'hls' });
  await node!.client.decide(later, {});
  // Each decision is a key of its own, so the later one may be told first.
  await until(() => [play, later].every(({ decisionId }) => collected.told.has(decisionId)));
  expect(collected.told.get(play.decisionId)).toEqual([
    {
      decision_id: play.decisionId,
      workspace_id: workspaceId,
      podcast_id: play.podcastId,
      episode_id: play.episodeId,
      decided_at: new Date(Number(play.atMs)).toISOString(),
      country: 'DE',
      surface_class: 'download',
      slots: picks.map((pick) => ({
        serving_id: pick.servingId,
        campaign_id: pick.campaignId,
        line_item_id: pick.lineItemId,
        creative_id: pick.creativeId,
        break_key: pick.breakKey,
        slot: pick.slot,
        position: 'pre',
        billable: pick.billable,
      })),
    },
  ]);
  expect(picks.map((pick) => pick.billable).sort()).toEqual([false, true]);
  expect(collected.told.get(later.decisionId)![0]).toMatchObject({ country: 'unknown', surface_class: 'stream' });
  expect(collected.told.has(empty.decisionId)).toBe(false);
  await until(async () => (await waiting()) === 0);
});

test('decisions made while the bus is away are told when it is back', async () => {
  const workspaceId = await workspaceWith([lineItem()]);
  await engines.stopRedis();
  const plays = Array.from({ length: 10 }, () => playOf(workspaceId));
  for (const play of plays) expect((await node!.client.decide(play, { deadlineMs: 2_000 })).picks).toHaveLength(1);
  expect(await waiting()).toBeGreaterThanOrEqual(10);
  await engines.startRedis();
  await using collected = await collect();
  await until(() => plays.every((play) => collected.told.has(play.decisionId)));
  await until(async () => (await waiting()) === 0);
});

test('what a node stored and never published is published by another when its lease is over; a bus that refuses loses nothing', async () => {
  await node![Symbol.asyncDispose]();
  node = undefined;
  const filled = () => {
    const decisionId = newId('dec');
    return decisionOf({ decisionId, answer: filledAnswer(decisionId) });
  };
  const insert = insertInto(pool);
  const store = async (leased: string) => {
    const decisions = [filled(), filled()];
    const known = (await pool.query<{ id: string }>('select batch_id as id from announcement_batch')).rows;
    await insert([...decisions, decisionOf()]);
    await pool.query(`update announcement_batch set leased_until = ${leased} where batch_id <> all ($1::uuid[])`, [
      known.map((row) => row.id),
    ]);
    return decisions.map((each) => each.decisionId);
  };
  const dead = await store(`now() - interval '1 ms'`);
  await store(`now() + interval '1 hour'`);
  // Of a release up to 0.4.0.
  const old = await insertByRelease4(pool, [filled(), filled(), decisionOf()]);
  await pool.query(`update decision_announcement set leased_until = now() + interval '1 hour' where decision_id = $1`, [
    old[1],
  ]);
  const heldOld = old[1]!;
  const announcing = (publish: Parameters<typeof createAnnouncements>[2]) =>
    createAnnouncements(pool, readerOf(pool), publish);
  const refuse = async () => {
    throw new Error('the bus is away');
  };
  await expect(announcing(refuse).publish()).rejects.toThrow('the bus is away');
  const told: string[][] = [[], []];
  await Promise.all(
    told.map((ids) => announcing(async (messages) => void ids.push(...messages.map(({ id }) => id))).publish()),
  );
  const { rows } = await pool.query<{ decision_id: string }>('select decision_id from decision_announcement');
  expect(rows).toHaveLength(1);
  expect(rows[0]!.decision_id === heldOld || old.includes(rows[0]!.decision_id)).toBe(true);
  expect(told.flat().toSorted()).toEqual(
    [...dead, old.find((id) => id !== heldOld && told.flat().includes(id))!].toSorted(),
  );
  expect(await waiting()).toBe(3);
});

test('decisions that cannot be read hold up no other, are reported once, and stay announced for who can read them', async () => {
  await pool.query('delete from announcement_batch; delete from decision_announcement');
  const filled = () => {
    const decisionId = newId('dec');
    return decisionOf({ decisionId, answer: filledAnswer(decisionId) });
  };
  const insert = insertInto(pool);
  const [mixed, whole] = [Array.from({ length: 6 }, filled), Array.from({ length: 2 }, filled)];
  await insert(mixed);
  await insert(whole);
  const [bad, good] = [mixed.slice(0, 4), [...mixed.slice(4), ...whole]].map((all) => all.map((one) => one.decisionId));
  await damage(pool, bad!);
  const [badOld, goodOld] = await insertByRelease4(pool, [filled(), filled()]);
  await pool.query(`update decision set trace = '0' where decision_id = $1`, [badOld]);
  const endLeases = () =>
    pool.query(
      `update announcement_batch set leased_until = '-infinity'; update decision_announcement set leased_until = '-infinity'`,
    );
  const reported: string[] = [];
  const told: string[] = [];
  const announcements = createAnnouncements(
    pool,
    readerOf(pool, ({ decisionId }) => void reported.push(decisionId)),
    async (messages) => void told.push(...messages.map(({ id }) => id)),
  );
  for (let round = 0; round < 2; round++) {
    await endLeases();
    await announcements.publish();
  }
  expect(told.toSorted()).toEqual([...good!, goodOld!].toSorted());
  expect(reported.toSorted()).toEqual([...bad!, badOld!].toSorted());
  const { rows } = await pool.query<{ id: string }>(
    'select unnest(decision_ids)::text as id from announcement_batch union all select decision_id from decision_announcement',
  );
  expect(rows.map(({ id }) => id).toSorted()).toEqual([...bad!.map(idToUuid), badOld!].toSorted());
});
