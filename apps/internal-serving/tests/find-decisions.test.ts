import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { idToUuid, newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import type { FindRequest } from '@longwave/rpc/serving';
import { until } from '@longwave/test-kit';
import { readDecisionRows } from '../src/decisions/decision-table.ts';
import { createFindDecisions } from '../src/decisions/find-decisions.ts';
import { damage, decisionOf, insertByRelease4, readerOf } from './_decision.ts';
import {
  lineItem,
  playOf,
  startEngines,
  untilDecidedBy,
  type Engines,
  type Node,
  type ServingClient,
} from './_support.ts';

const start = Date.parse('2026-11-20T00:00:00Z');
const minute = 60_000;

let engines: Engines;
let node: Node;
let management: ServingClient;
let pool: Pool;

/** Two line items: a capped one that serves a listener once, and one that serves afterwards. */
const capped = lineItem({
  type: 'non_guaranteed',
  cpm_micros: 9_000_000,
  frequency_caps: [{ max: 1, per: 'listener_bucket', window_seconds: 2_592_000 }],
});
const open = lineItem();
const workspaceId = newId('ws');
const [podcastId, episodeId] = [newId('pod'), newId('ep')];
/** Ids of the decisions, the newest first. */
let all: readonly string[];

beforeAll(async () => {
  engines = await startEngines();
  node = await engines.startNode();
  management = engines.clientAs('management', node.port);
  pool = createPool(engines.database.url, 'serving', { name: 'test', max: 2 });
  const { servingPlanId } = await engines.publishPlan(workspaceId, [capped, open]);
  await untilDecidedBy(node, workspaceId, servingPlanId);
  const made: string[] = [];
  for (let play = 0; play < 12; play++) {
    // Several decisions have the same time.
    const atMs = BigInt(start + Math.floor(play / 2) * minute);
    const isNewEpisode = play >= 6;
    const request = playOf(workspaceId, {
      atMs,
      podcastId,
      ...(isNewEpisode ? { episodeId } : {}),
      ...(play === 11 ? { streamFormat: 'mp3/64000/44100/1' } : {}),
    });
    await node.client.decide(request, {});
    made.push(request.decisionId);
  }
  const time = new Map(made.map((id, play) => [id, Math.floor(play / 2)]));
  all = made.toSorted((a, b) => time.get(b)! - time.get(a)! || (a < b ? 1 : -1));
}, 120_000);

afterAll(async () => {
  await pool.end();
  management.close();
  await node[Symbol.asyncDispose]();
  await engines[Symbol.asyncDispose]();
});

const any = (given: Partial<FindRequest> = {}): FindRequest => ({
  ...{ workspaceId, fromMs: BigInt(start), toMs: BigInt(start + 60 * minute), limit: 200, after: undefined },
  ...{ podcastId: '', episodeId: '', lineItemId: '', verdict: '', campaignId: '', creativeId: '' },
  ...{ outcome: '', noAdReason: '' },
  ...given,
});

const idsOf = async (given: Partial<FindRequest>) =>
  (await management.find(any(given), {})).decisions.map(({ decisionId }) => decisionId);

test('decisions are found by everything that their traces say, the newest first, and by several of these at once', async () => {
  expect(await idsOf({})).toEqual(all);
  expect(await idsOf({ podcastId })).toEqual(all);
  expect(await idsOf({ podcastId: newId('pod') })).toEqual([]);
  expect(await idsOf({ episodeId })).toHaveLength(6);
  expect(await idsOf({ fromMs: BigInt(start + minute), toMs: BigInt(start + 2 * minute) })).toHaveLength(2);

  const won = await idsOf({ lineItemId: capped.line_item_id, verdict: 'won' });
  expect(won).toHaveLength(1);
  expect(await idsOf({ campaignId: capped.campaign_id })).toEqual(won);
  expect(await idsOf({ creativeId: capped.creatives[0]!.creative_id })).toEqual(won);
  expect(await idsOf({ campaignId: open.campaign_id, creativeId: capped.creatives[0]!.creative_id })).toEqual([]);
  expect(await idsOf({ lineItemId: capped.line_item_id, verdict: 'capped' })).toHaveLength(10);
  expect(await idsOf({ lineItemId: open.line_item_id, verdict: 'capped' })).toEqual([]);
  expect(await idsOf({ lineItemId: capped.line_item_id })).toHaveLength(12);

  const empty = await idsOf({ outcome: 'empty' });
  expect(empty).toHaveLength(1);
  expect(await idsOf({ noAdReason: 'no_rendition' })).toEqual(empty);
  expect(await idsOf({ outcome: 'filled' })).toEqual(all.filter((id) => !empty.includes(id)));
  expect(await idsOf({ outcome: 'filled', noAdReason: 'no_rendition' })).toEqual([]);
});

test('a found decision has its podcast, episode, time, plan and picks, and nothing of its listener', async () => {
  const { decisions } = await management.find(any({ campaignId: capped.campaign_id, episodeId: '' }), {});
  expect(decisions).toEqual([
    {
      decisionId: all.at(-1) === decisions[0]!.decisionId ? all.at(-1) : all.at(-2),
      atMs: BigInt(start),
      podcastId,
      episodeId: expect.stringMatching(/^ep_/),
      servingPlanId: expect.stringMatching(/^spl_/),
      noAdReason: '',
      picks: [
        {
          ...{ breakKey: 'pre', slot: 0, campaignId: capped.campaign_id, lineItemId: capped.line_item_id },
          creativeId: capped.creatives[0]!.creative_id,
        },
      ],
    },
  ]);
});

test('pages of any length, and calls that look at few decisions, together give every decision once and in order', async () => {
  const through = async (given: Partial<FindRequest>, examine: number) => {
    const find = createFindDecisions(pool, readerOf(pool), examine);
    const found: string[] = [];
    let calls = 0;
    for (let after: FindRequest['after']; ;) {
      const page = await find(any({ ...given, after }));
      calls++;
      expect(page.decisions.length).toBeLessThanOrEqual(given.limit ?? 200);
      found.push(...page.decisions.map(({ decisionId }) => decisionId));
      if (!page.next) return { found, calls };
      after = page.next;
    }
  };
  for (const limit of [1, 2, 3, 5, 12]) expect((await through({ limit }, 2_000)).found).toEqual(all);
  for (const examine of [1, 2, 5, 7]) {
    expect((await through({}, examine)).found).toEqual(all);
    const rare = await through({ campaignId: capped.campaign_id }, examine);
    expect(rare.found).toHaveLength(1);
    expect(rare.calls).toBeGreaterThan(1);
  }
});

test('decisions of another workspace are not found, whatever is asked', async () => {
  const other = newId('ws');
  expect(await idsOf({ workspaceId: other })).toEqual([]);
  expect(await idsOf({ workspaceId: other, lineItemId: capped.line_item_id })).toEqual([]);
});

test('a wrong question is refused, and so is a caller that is not management or the operator', async () => {
  for (const wrong of [
    { workspaceId: '' },
    { workspaceId: 'x' },
    { podcastId: 'pod' },
    { verdict: 'unlucky' },
    { noAdReason: 'bad_weather' },
    { outcome: 'half' },
    { limit: 0 },
    { limit: 201 },
  ])
    await expect(management.find(any(wrong), {})).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(node.client.find(any(), {})).rejects.toMatchObject({ code: 'permission_denied' });
});

test('decisions of releases up to 0.4.0 are found among the others, in order and once', async () => {
  const old = [0, 1, 1].map((at) => decisionOf({ workspaceId, atMs: start + at * minute }));
  await insertByRelease4(pool, old);
  const find = createFindDecisions(pool, readerOf(pool), 4);
  const found: (readonly [id: string, atMs: number])[] = [];
  for (let after: FindRequest['after'], page; !page || page.next; after = page.next) {
    page = await find(any({ limit: 3, after }));
    found.push(...page.decisions.map(({ decisionId, atMs }) => [decisionId, Number(atMs)] as const));
  }
  expect(found.map(([id]) => id).toSorted()).toEqual([...all, ...old.map(({ decisionId }) => decisionId)].toSorted());
  expect(found).toEqual(found.toSorted(([a, aMs], [b, bMs]) => bMs - aMs || (a < b ? 1 : -1)));
  await pool.query('delete from decision where workspace_id = $1', [workspaceId]);
});

test('decisions that cannot be read are left out, and those around them are found once and in order', async () => {
  const bad = [all[0]!, all[4]!, all[5]!, all[11]!];
  const packed = await pool.query<{ decision_id: string; packed: Buffer }>(
    'select decision_id, packed from packed_decision where decision_id = any ($1::uuid[])',
    [bad.map(idToUuid)],
  );
  await damage(pool, bad);
  const reported: string[] = [];
  const reader = readerOf(pool, ({ decisionId }) => void reported.push(decisionId));
  for (const examine of [1, 2, 2_000]) {
    const find = createFindDecisions(pool, reader, examine);
    const found: string[] = [];
    for (let after: FindRequest['after'], page; !page || page.next; after = page.next) {
      page = await find(any({ limit: 2, after }));
      found.push(...page.decisions.map(({ decisionId }) => decisionId));
    }
    expect(found).toEqual(all.filter((id) => !bad.includes(id)));
  }
  expect(reported.toSorted()).toEqual(bad.toSorted());
  for (const row of packed.rows)
    await pool.query('update packed_decision set packed = $2 where decision_id = $1', [row.decision_id, row.packed]);
});

test('the search reads an index of the workspace from its position on, and decisions that were moved to the object store are not found', async () => {
  const after = { atMs: Date.now(), decisionId: all[0]! };
  const [from, to] = [new Date(0), new Date()];
  const one = createPool(engines.database.url, 'serving', { name: 'test', max: 1, readsKeys: true });
  try {
    await readDecisionRows(one, { workspaceId, from, to, after }, 10);
    const { rows } = await one.query<{ 'QUERY PLAN': string }>(
      `explain execute "read-decisions" ('${idToUuid(workspaceId)}', '${from.toISOString()}', '${to.toISOString()}', now(), gen_random_uuid(), 10)`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    // The position ($4) bounds what is read of the index, in a plan for any values.
    expect(plan).toMatch(/packed_decision_of_workspace_idx[^]*Index Cond: .*at <= \$4/);
  } finally {
    await one.end();
  }
  await until(async () => (await pool.query('select from announcement_batch')).rowCount === 0);
  await pool.query(`update packed_decision set archived_in = '\\x00', packed = null where decision_id = $1`, [
    idToUuid(all[0]!),
  ]);
  expect(await idsOf({})).toEqual(all.slice(1));
});
