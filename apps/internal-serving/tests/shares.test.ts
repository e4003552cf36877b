import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import type { DecideResponse } from '@longwave/rpc/serving';
import { until } from '@longwave/test-kit';
import { createShareCounts, shareWindowStart } from '../src/shares/share-counts.ts';
import { removeOldShares, sumShares } from '../src/shares/share-table.ts';
import { decisionOf, insertInto } from './_decision.ts';
import { lineItem, playOf, startEngines, untilDecidedBy, type Engines, type Node } from './_support.ts';

let engines: Engines;
let nodes: [Node, Node];
let pool: Pool;

beforeAll(async () => {
  engines = await startEngines();
  nodes = [await engines.startNode(), await engines.startNode()];
  pool = createPool(engines.database.url, 'serving', { name: 'test', max: 2 });
});

afterAll(async () => {
  await pool.end();
  for (const node of nodes) await node[Symbol.asyncDispose]();
  await engines[Symbol.asyncDispose]();
});

const servedOf = (answers: readonly DecideResponse[], lineItemId: string) =>
  answers.flatMap((answer) => answer.picks).filter((pick) => pick.lineItemId === lineItemId).length;

const hourMs = 3_600_000;

test('two nodes give a sponsorship its share of the breaks, and each counts what the other gave', async () => {
  const sponsor = lineItem({ type: 'sponsorship', goal: { unit: 'share_pct', quantity: 25 } });
  const workspaceId = newId('ws');
  const { servingPlanId } = await engines.publishPlan(workspaceId, [sponsor, lineItem()]);
  for (const node of nodes) await untilDecidedBy(node, workspaceId, servingPlanId);
  const answers: DecideResponse[] = [];
  const play = async (node: Node, count: number) => {
    for (let at = 0; at < count; at++) answers.push(await node.client.decide(playOf(workspaceId), {}));
  };
  await play(nodes[0], 40);
  expect(servedOf(answers, sponsor.line_item_id)).toBe(10);
  const counted = await sumShares(pool, [sponsor.line_item_id], shareWindowStart(new Date()));
  expect(counted.get(sponsor.line_item_id)).toEqual({ served: 10, opportunities: 40 });
  // The other node's first play of the sponsor would come at once if it did not know of these: at 11 of 41 it must wait for four breaks.
  await until(async () => {
    answers.push(await nodes[1].client.decide(playOf(workspaceId), {}));
    return answers.length >= 80;
  });
  const share = servedOf(answers, sponsor.line_item_id) / answers.length;
  expect(share).toBeGreaterThan(0.2);
  expect(share).toBeLessThan(0.3);
});

test('counts older than a day leave the window, and every node sees the counts of all', async () => {
  let nowMs = Date.UTC(2026, 5, 1, 12, 30);
  const create = () =>
    createShareCounts(
      (lineItemIds, since) => sumShares(pool, lineItemIds, since),
      () => new Date(nowMs),
    );
  const [one, other] = [create(), create()];
  const lineItemId = newId('li');
  const insert = insertInto(pool);
  const give = async (by: typeof one, opportunities: readonly string[], servings: readonly string[]) => {
    const shares = { shareOpportunities: opportunities, shareServings: servings };
    await insert([decisionOf({ atMs: nowMs, nodeEpoch: by === one ? 1 : 2, ...shares })]);
    by.count(opportunities, servings);
  };
  await give(one, [lineItemId, lineItemId], [lineItemId]);
  expect(one.shareOf(lineItemId)).toEqual({ served: 1, opportunities: 2 });
  await give(other, [lineItemId], []);
  for (const counts of [one, other]) {
    await counts.read([lineItemId]);
    expect(counts.shareOf(lineItemId)).toEqual({ served: 1, opportunities: 3 });
  }
  nowMs += 23 * hourMs;
  await one.read([lineItemId]);
  expect(one.shareOf(lineItemId)).toEqual({ served: 1, opportunities: 3 });
  nowMs += hourMs;
  await one.read([lineItemId]);
  expect(one.shareOf(lineItemId)).toEqual({ served: 0, opportunities: 0 });
});

test('what is counted while the sums are read is not lost, and a failed read changes nothing', async () => {
  const lineItemId = newId('li');
  let answer = Promise.withResolvers<ReadonlyMap<string, { served: number; opportunities: number }>>();
  const counts = createShareCounts(
    () => answer.promise,
    () => new Date(),
  );
  const reading = counts.read([lineItemId]);
  counts.count([lineItemId], [lineItemId]);
  answer.resolve(new Map([[lineItemId, { served: 5, opportunities: 20 }]]));
  await reading;
  expect(counts.shareOf(lineItemId)).toEqual({ served: 6, opportunities: 21 });
  answer = Promise.withResolvers();
  const failing = counts.read([lineItemId]);
  answer.reject(new Error('away'));
  await expect(failing).rejects.toThrow('away');
  expect(counts.shareOf(lineItemId)).toEqual({ served: 6, opportunities: 21 });
});

test('hours before the window are removed, so many at a time', async () => {
  const atMs = Date.UTC(2026, 0, 1);
  const shareOpportunities = Array.from({ length: 5 }, () => newId('li'));
  await insertInto(pool)([
    decisionOf({ atMs, shareOpportunities }),
    decisionOf({ atMs: atMs + hourMs, shareOpportunities }),
  ]);
  const before = new Date(atMs + hourMs);
  expect([await removeOldShares(pool, before, 3), await removeOldShares(pool, before, 3)]).toEqual([3, 2]);
  expect(await removeOldShares(pool, before, 3)).toBe(0);
  expect((await sumShares(pool, shareOpportunities, new Date(atMs))).size).toBe(5);
});
