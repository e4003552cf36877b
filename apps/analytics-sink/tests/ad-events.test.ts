import { beforeEach, expect, test } from '@jest/globals';
import { userAgentDigest } from '@longwave/audience';
import { deliveryEventFactId, type DeliveryEvent, type DeliveryFact } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import { fact, lists, player, seen, withServing } from '@longwave/test-kit/delivery-facts';
import { listAdEvents, type AdEventPage } from '../src/ads/ad-event-table.ts';
import { createNoteLayouts } from '../src/batches/known-layout-table.ts';
import { createCountingMemory, recordFacts, type CountingMemory } from '../src/counting/record-facts.ts';
import { useTables } from './_tables.ts';

let pool: Pool;
useTables((tables) => ({ pool } = tables));
let memory: CountingMemory;
/** The time of the database before anything was counted. */
let begun: Date;
beforeEach(async () => {
  memory = createCountingMemory();
  begun = (await pool.query<{ now: Date }>('select now()')).rows[0]!.now;
});

async function record(...facts: readonly DeliveryFact[]): Promise<void> {
  await createNoteLayouts(pool)(facts);
  await recordFacts(pool, facts, lists, memory);
}

const report = (servingId: string, event: DeliveryEvent['event'], sequence = 0): DeliveryEvent => ({
  kind: 'delivery_event',
  fact_id: deliveryEventFactId(servingId, event, sequence),
  ...{ serving_id: servingId, event, sequence, at: '2025-11-02T10:00:05.000Z', late: false },
  ...{ workspace_id: 'ws_1', podcast_id: 'pod_1', episode_id: 'ep_1', campaign_id: 'cmp_1', line_item_id: 'li_1' },
  ...{ creative_id: 'crv_1', break_key: 'pre', slot: 0, listener_key: 'listener', address_verdict: 'ok' },
  ...{
    user_agent_digest: userAgentDigest(player),
    country: 'DE',
    region: 'unknown',
    lists_version: lists.listsVersion,
  },
});

/** Every event since the beginning of the test, read in pages of at most `maxEvents` transactions, when so many are settled. */
async function settled(count: number, maxEvents?: number): Promise<AdEventPage['events']> {
  const events: AdEventPage['events'][number][] = [];
  let from = begun;
  await until(
    async () => {
      const page = await listAdEvents(pool, ['ws_1'], from, maxEvents);
      events.push(...page.events);
      from = page.until;
      return events.length >= count && !page.isBehind;
    },
    { timeoutMs: 15_000 },
  );
  return events;
}
const named = (events: AdEventPage['events']) => events.map((one) => `${one.serving_id} ${one.event}`);

test('the first delivery of a serving is an event, further ones and those of other workspaces are none, however often facts come', async () => {
  const first = withServing('srv_1', { fact_id: 'fct_1' });
  await record(seen(), first);
  await record(first, seen());
  await record(withServing('srv_1', { fact_id: 'fct_2', started_at: '2025-11-03T00:30:00.000Z' }));
  await record(withServing('srv_1', { fact_id: 'fct_3', listener_key: 'proxy' }));
  await record(withServing('srv_2', { fact_id: 'fct_4', workspace_id: 'ws_2', listener_key: 'x' }));
  // Half an ad is not delivered.
  await record(withServing('srv_3', { fact_id: 'fct_5', listener_key: 'y', written: [[0, 100_000]] }));
  await record(withServing('srv_4', { fact_id: 'fct_6', listener_key: 'z' }));
  const events = await settled(2, 1);
  expect(named(events)).toEqual(['srv_1 impression', 'srv_4 impression']);
  expect(events[0]).toMatchObject({
    ...{ workspace_id: 'ws_1', campaign_id: 'cmp_1', line_item_id: 'li_1', creative_id: 'crv_1' },
    ...{ playhead_ms: 0, break_position: 'pre' },
  });
});

test('of what players report, each kind that counts is one event of its serving', async () => {
  await record(seen(), report('srv_1', 'start'), report('srv_1', 'start'), report('srv_1', 'midpoint'));
  await record(report('srv_1', 'pause'), report('srv_1', 'pause', 1), report('srv_1', 'impression'));
  await record({ ...report('srv_2', 'complete'), address_verdict: 'dc_ip' }, report('srv_3', 'complete'));
  await record(report('srv_1', 'start'));
  expect(named(await settled(3)).sort()).toEqual(['srv_1 midpoint', 'srv_1 start', 'srv_3 complete']);
});

test('an ad behind the first content has its place in the episode', async () => {
  const base = fact({ fact_id: 'fct_1' });
  const [header, ad, content] = base.parts;
  const parts = [
    header!,
    { ...content!, from: 1000, to: 1_921_000 },
    { ...ad!, from: 1_921_000, to: 2_081_000, ad: { ...ad!.ad!, serving_id: 'srv_post', break_key: 'post' } },
  ];
  await record(seen(), { ...base, parts });
  expect(await settled(1)).toMatchObject([{ serving_id: 'srv_post', playhead_ms: 120_000, break_position: 'post' }]);
});

/** Columns of an entry of the ledger beside its serving and what the database writes. */
const copied = `methodology_version, lists_version, restates, stage, quantity, listener_key, window_on, workspace_id, podcast_id, episode_id,
  campaign_id, line_item_id, creative_id, break_key, slot, hour, country, region, app, device, platform`;

test('what is counted by a transaction that ends late is not passed over', async () => {
  const late = await pool.connect();
  try {
    await late.query('begin');
    const { rows } = await late.query<{ at: Date }>('select now() as at');
    await record(seen(), withServing('srv_1', { fact_id: 'fct_1' }));
    const held = await listAdEvents(pool, ['ws_1'], begun);
    expect(held.events).toEqual([]);
    expect(held.until.getTime()).toBeLessThanOrEqual(rows[0]!.at.getTime());
    await late.query(
      `insert into ad_entry (serving_id, ${copied}) select 'srv_late', ${copied} from ad_entry where stage = 'delivered'`,
    );
    await late.query('commit');
  } finally {
    late.release();
  }
  expect(named(await settled(2))).toEqual(['srv_late impression', 'srv_1 impression']);
});
