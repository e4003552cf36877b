import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { Redis } from 'ioredis';
import { lineItem, playOf, preroll } from './_support.ts';
import { startTwoNodes, type TwoNodes } from './_two-nodes.ts';

let two: TwoNodes;
beforeAll(async () => {
  two = await startTwoNodes();
});
afterAll(async () => two[Symbol.asyncDispose]());

const capped = (max: number, per: 'listener_bucket' | 'episode' | 'break' = 'listener_bucket') =>
  lineItem({ type: 'guaranteed', frequency_caps: [{ max, per, window_seconds: 86_400 }] });
const bucket = () => Buffer.from(newId('dec').slice(-16));

test('twenty plays of one listener at once on two nodes, each asked twice, hear a line item as often as its cap says', async () => {
  const line = capped(3);
  const workspaceId = await two.workspaceWith([line, lineItem()]);
  const listenerBucket = bucket();
  const plays = Array.from({ length: 20 }, () => playOf(workspaceId, { listenerBucket }));
  const ask = (at: number) => two.nodes[at % 2]!.client.decide(plays[at]!, {});
  const answers = await Promise.all(plays.map((_, at) => ask(at)));
  const again = await Promise.all(plays.map((_, at) => ask(at)));
  expect(again).toEqual(answers);
  const served = () =>
    answers.flatMap(({ picks }) => picks).filter((pick) => pick.lineItemId === line.line_item_id).length;
  // Plays that met too many others at once got no ad, so slots may be left.
  while (served() < 3) answers.push(await two.nodes[0].client.decide(playOf(workspaceId, { listenerBucket }), {}));
  for (let play = 0; play < 5; play++)
    answers.push(await two.nodes[play % 2]!.client.decide(playOf(workspaceId, { listenerBucket }), {}));
  expect(served()).toBe(3);
  const other = await two.nodes[0].client.decide(playOf(workspaceId, { listenerBucket: bucket() }), {});
  expect(other.picks[0]!.lineItemId).toBe(line.line_item_id);
});

test('a listener who is forgotten in one workspace begins anew there, and goes on in every other', async () => {
  const [workspaceId, elsewhere] = [await two.workspaceWith([capped(1)]), await two.workspaceWith([capped(1)])];
  const listenerBucket = bucket();
  const picksIn = async (where: string) =>
    (await two.nodes[0].client.decide(playOf(where, { listenerBucket }), {})).picks.length;
  expect([await picksIn(workspaceId), await picksIn(elsewhere)]).toEqual([1, 1]);
  const management = two.engines.clientAs('management', two.nodes[1].port);
  const forget = async () =>
    (await management.forgetListeners({ workspaceId, listenerBuckets: [listenerBucket, bucket()] }, {})).records;
  expect([await forget(), await forget()]).toEqual([1n, 0n]);
  expect([await picksIn(workspaceId), await picksIn(elsewhere)]).toEqual([1, 0]);
  const stranger = two.engines.clientAs('encoder', two.nodes[1].port);
  await expect(stranger.forgetListeners({ workspaceId, listenerBuckets: [] }, {})).rejects.toMatchObject({
    code: 'permission_denied',
  });
});

test('servings under the previous key of a listener count while that key is sent; those of other workspaces do not', async () => {
  const line = capped(1);
  const [workspaceId, elsewhere] = [await two.workspaceWith([line]), await two.workspaceWith([capped(1)])];
  const [old, fresh] = [bucket(), bucket()];
  expect((await two.nodes[0].client.decide(playOf(workspaceId, { listenerBucket: old }), {})).picks).toHaveLength(1);
  const both = { listenerBucket: fresh, previousListenerBucket: old };
  expect(await two.nodes[1].client.decide(playOf(workspaceId, both), {})).toMatchObject({
    picks: [],
    noAdReason: 'capped',
  });
  expect((await two.nodes[1].client.decide(playOf(elsewhere, both), {})).picks).toHaveLength(1);
  expect((await two.nodes[1].client.decide(playOf(workspaceId, { listenerBucket: fresh }), {})).picks).toHaveLength(1);
});

test('caps per episode and per break count there alone', async () => {
  const [episode, inBreak] = [capped(1, 'episode'), capped(1, 'break')];
  const workspaceId = await two.workspaceWith([episode, inBreak]);
  const listenerBucket = bucket();
  const episodeId = newId('ep');
  const breaks = [
    { ...preroll, maxSlots: 2 },
    { ...preroll, key: 'post', position: 'post', maxSlots: 2 },
  ];
  const heard = async (given: object) =>
    (await two.nodes[0].client.decide(playOf(workspaceId, { listenerBucket, breaks, ...given }), {})).picks
      .map((pick) => `${pick.breakKey} ${pick.lineItemId === episode.line_item_id ? 'episode' : 'break'}`)
      .sort();
  expect(await heard({ episodeId, breaks: [breaks[0]!] })).toEqual(['pre break', 'pre episode']);
  expect(await heard({ episodeId })).toEqual(['post break']);
  expect(await heard({})).toEqual(['post break', 'pre break', 'pre episode']);
});

test('without Redis or without a listener line items with caps stay out and the others serve', async () => {
  const house = lineItem();
  const workspaceId = await two.workspaceWith([capped(1_000), house]);
  const nobody = await two.nodes[0].client.decide(playOf(workspaceId, { listenerBucket: Buffer.alloc(0) }), {});
  expect(nobody.picks.map((pick) => pick.lineItemId)).toEqual([house.line_item_id]);
  await two.engines.stopRedis();
  const answer = await two.nodes[0].client.decide(playOf(workspaceId), { deadlineMs: 1_000 });
  expect(answer.picks.map((pick) => pick.lineItemId)).toEqual([house.line_item_id]);
  await two.engines.startRedis();
});

test('a sequential line item tells its creatives one after the other to each listener, and the record names nothing', async () => {
  const creative = lineItem().creatives[0]!;
  const creatives = [3, 1, 2].map((sequence_no) => ({ ...creative, creative_id: newId('crv'), sequence_no }));
  const workspaceId = await two.workspaceWith([lineItem({ creative_rotation: 'sequential', creatives })]);
  const told = creatives.toSorted((a, b) => a.sequence_no - b.sequence_no).map((one) => one.creative_id);
  for (const listenerBucket of [bucket(), bucket()]) {
    const heard: string[] = [];
    for (let play = 0; play < 4; play++) {
      const answer = await two.nodes[play % 2]!.client.decide(playOf(workspaceId, { listenerBucket }), {});
      heard.push(answer.picks[0]!.creativeId);
    }
    expect(heard).toEqual([...told, told[0]]);
  }
  const redis = new Redis(two.engines.redis().url);
  const keys = await redis.keys(`listener:${workspaceId}:*`);
  const [record, life] = [await redis.get(keys[0]!), await redis.pttl(keys[0]!)];
  redis.disconnect();
  expect(keys).toHaveLength(2);
  expect(record).not.toMatch(/(li|ep|dec|crv)_/);
  expect(record!.split('\n')).toHaveLength(4);
  expect(life).toBeGreaterThan(33 * 86_400_000);
});
