import { beforeEach, describe, expect, test } from '@jest/globals';
import { userAgentDigest } from '@longwave/audience';
import { deliveryEventKinds, type DecisionMade, type DeliveryEvent, type DeliveryFact } from '@longwave/events';
import type { TestDatabase } from '@longwave/fleet';
import type { Pool } from '@longwave/postgres';
import { batches, lists, player, seen, shuffledTwice, withServing } from '@longwave/test-kit/delivery-facts';
import { recordDecisions } from '../src/ads/ad-ledger.ts';
import { countAds, countAdSeries, countCampaigns, countClientEvents, type AdScope } from '../src/queries/ad-queries.ts';
import { reconcileAds } from '../src/ads/reconcile-ads.ts';
import { createCountingMemory, recordFacts, type CountingMemory } from '../src/counting/record-facts.ts';
import { emptyTables, useTables } from './_tables.ts';

let database: TestDatabase;
let pool: Pool;

useTables((tables) => ({ database, pool } = tables));
let memory: CountingMemory;
beforeEach(() => {
  memory = createCountingMemory();
});

const record = (facts: readonly DeliveryFact[]) => recordFacts(pool, facts, lists, memory);
const decide = (...decisions: DecisionMade[]) => recordDecisions(pool, decisions, lists.listsVersion);

const range = { from: new Date('2025-10-30T00:00Z'), to: new Date('2025-11-06T00:00Z') };
const line: AdScope = { workspaceId: 'ws_1', kind: 'lineItemId', id: 'li_1' };

const decision = (servingId: string, changes: Partial<DecisionMade> = {}): DecisionMade => ({
  decision_id: `dec ${servingId}`,
  workspace_id: 'ws_1',
  podcast_id: 'pod_1',
  episode_id: 'ep_1',
  decided_at: '2025-11-02T09:59:59.000Z',
  country: 'DE',
  slots: [
    {
      serving_id: servingId,
      campaign_id: 'cmp_1',
      line_item_id: 'li_1',
      creative_id: 'crv_1',
      break_key: 'pre',
      slot: 0,
      billable: true,
    },
  ],
  ...changes,
});

const stages = async (scope: AdScope = line) => {
  const { decided, delivered, billable } = await countAds(pool, scope, range);
  return [decided, delivered, billable].map(Number);
};
const entries = async () =>
  (
    await pool.query<{ text: string }>(
      `select stage || ' ' || quantity || ' ' || coalesce(window_on::text, '-') as text from ad_entry order by id`,
    )
  ).rows.map((row) => row.text);

describe('decided, delivered, billable', () => {
  test('a serving is decided once, however often its decision arrives, before or after its delivery', async () => {
    await decide(decision('srv_1'), decision('srv_1'));
    await decide(decision('srv_1'), decision('srv_2'));
    expect(await stages()).toEqual([2, 0, 0]);
    await record([seen(), withServing('srv_3', { fact_id: 'fct_1' })]);
    await decide(decision('srv_3'));
    await decide(decision('srv_3'));
    expect(await stages()).toEqual([3, 1, 1]);
    expect(await reconcileAds(pool, 'ws_1', range)).toEqual({
      ...{ decided: 3, delivered: 1, covered: 1, unchecked: 0, billable: 1 },
      findings: [],
    });
  });

  test('one serving in downloads of several days and listeners is delivered in each and billed once, in the first', async () => {
    await decide(decision('srv_1'));
    await record([seen(), withServing('srv_1', { fact_id: 'fct_2', started_at: '2025-11-03T12:00:00.000Z' })]);
    await record([
      withServing('srv_1', { fact_id: 'fct_3', listener_key: 'proxy', started_at: '2025-11-04T12:00:00.000Z' }),
    ]);
    expect(await stages()).toEqual([1, 2, 1]);
    await record([withServing('srv_1', { fact_id: 'fct_1', started_at: '2025-11-02T12:00:00.000Z' })]);
    expect(await stages()).toEqual([1, 3, 1]);
    expect(await entries()).toEqual([
      'decided 1 -',
      'delivered 1 2025-11-03',
      'served 1 2025-11-03',
      'confirmed 1 2025-11-03',
      'billable 1 2025-11-03',
      'delivered 1 2025-11-04',
      'delivered 1 2025-11-02',
      'served -1 2025-11-03',
      'served 1 2025-11-02',
      'confirmed -1 2025-11-03',
      'confirmed 1 2025-11-02',
      'billable -1 2025-11-03',
      'billable 1 2025-11-02',
    ]);
    expect((await reconcileAds(pool, 'ws_1', range)).findings).toEqual([]);
  });

  test('when a billed download is taken back, the bill moves to the next delivery', async () => {
    const later = withServing('srv_1', { fact_id: 'fct_2', started_at: '2025-11-03T00:05:00.000Z' });
    const other = withServing('srv_1', { fact_id: 'fct_3', listener_key: 'z', started_at: '2025-11-05T12:00:00.000Z' });
    await record([seen(), later, other]);
    // The download of the third becomes part of a session that began the day before.
    await record([
      withServing('srv_1', {
        fact_id: 'fct_1',
        started_at: '2025-11-02T23:58:00.000Z',
        written: [[161_000, 200_000]],
      }),
    ]);
    expect(await stages()).toEqual([0, 2, 1]);
    const hours = await countAdSeries(pool, { workspaceId: 'ws_1', podcastId: 'pod_1' }, range, 'hour');
    expect(
      hours
        .filter((row) => row.delivered > 0n)
        .map((row) => [new Date(Number(row.startMs)).toISOString().slice(0, 13), row.delivered, row.billable]),
    ).toEqual([
      ['2025-11-02T23', 1n, 1n],
      ['2025-11-05T12', 1n, 0n],
    ]);
  });

  test('an ad of a line item that is not billed is delivered and never billable', async () => {
    await record([seen(), withServing('srv_1', { fact_id: 'fct_1' }, false)]);
    expect(await stages()).toEqual([0, 1, 0]);
  });

  test('numbers by scope, each within its workspace, are stored by the country of decision and download', async () => {
    await decide(decision('srv_1'), decision('srv_2', { country: 'US' }));
    await record([seen(), withServing('srv_1', { fact_id: 'fct_1', country: 'AT' })]);
    for (const kind of ['podcastId', 'campaignId', 'lineItemId', 'creativeId'] as const) {
      const id = { podcastId: 'pod_1', campaignId: 'cmp_1', lineItemId: 'li_1', creativeId: 'crv_1' }[kind];
      expect(await stages({ workspaceId: 'ws_1', kind, id })).toEqual([2, 1, 1]);
      expect(await stages({ workspaceId: 'ws_2', kind, id })).toEqual([0, 0, 0]);
      expect(await stages({ workspaceId: 'ws_1', kind, id: 'another' })).toEqual([0, 0, 0]);
    }
    const { rows } = await pool.query('select country, decided, delivered, billable from ad_hour order by country');
    expect(rows).toEqual([
      { country: 'AT', decided: '0', delivered: '1', billable: '1' },
      { country: 'DE', decided: '1', delivered: '0', billable: '0' },
      { country: 'US', decided: '1', delivered: '0', billable: '0' },
    ]);
  });

  test('ads of campaigns are those of each campaign, or its part in one podcast, within their workspace', async () => {
    await decide(decision('srv_1'), decision('srv_2', { podcast_id: 'pod_2' }));
    await record([seen(), withServing('srv_1', { fact_id: 'fct_1' })]);
    const campaigns = { workspaceId: 'ws_1', campaignIds: ['cmp_1', 'cmp_none'] };
    const counts = (scope: object) => countCampaigns(pool, { ...campaigns, ...scope }, range);
    expect(await stages({ workspaceId: 'ws_1', kind: 'campaignId', id: 'cmp_1' })).toEqual([2, 1, 1]);
    expect(await counts({})).toMatchObject([{ campaignId: 'cmp_1', decided: 2n, delivered: 1n }]);
    expect(await counts({ podcastId: 'pod_2' })).toMatchObject([{ campaignId: 'cmp_1', decided: 1n, delivered: 0n }]);
    expect(await counts({ podcastId: 'pod_3' })).toEqual([]);
    expect(await counts({ workspaceId: 'ws_2' })).toEqual([]);
  });

  test('ads of a podcast by bucket add up to those of the range, zero-filled, within its workspace', async () => {
    await decide(decision('srv_1'), decision('srv_2'));
    await record([
      seen(),
      withServing('srv_1', { fact_id: 'fct_1' }),
      withServing('srv_2', { fact_id: 'fct_2', listener_key: 'z', started_at: '2025-11-05T12:00:00.000Z' }),
    ]);
    const days = { from: new Date('2025-11-02T00:00Z'), to: new Date('2025-11-06T00:00Z') };
    const podcast = { workspaceId: 'ws_1', podcastId: 'pod_1' };
    const series = await countAdSeries(pool, podcast, days, 'day');
    expect(series.map((one) => [new Date(Number(one.startMs)).toISOString().slice(0, 10), one.delivered])).toEqual([
      ['2025-11-02', 1n],
      ['2025-11-03', 0n],
      ['2025-11-04', 0n],
      ['2025-11-05', 1n],
    ]);
    const whole = await countAds(pool, { workspaceId: 'ws_1', kind: 'podcastId', id: 'pod_1' }, days);
    for (const unit of ['hour', 'day', 'week', 'month'] as const)
      for (const stage of ['decided', 'delivered', 'billable'] as const) {
        const buckets = await countAdSeries(pool, podcast, days, unit);
        expect(buckets.reduce((sum, one) => sum + one[stage], 0n)).toBe(whole[stage]);
      }
    const foreign = await countAdSeries(pool, { ...podcast, workspaceId: 'ws_2' }, days, 'month');
    expect(foreign.map((one) => one.delivered)).toEqual([0n]);
  });
});

describe('a report of a player', () => {
  const event = (kind: DeliveryEvent['event'], changes: Partial<DeliveryEvent> = {}): DeliveryEvent => ({
    kind: 'delivery_event',
    fact_id: `srv_1 ${kind} ${changes.sequence ?? 0} ${changes.serving_id ?? ''}${changes.address_verdict ?? ''}`,
    serving_id: 'srv_1',
    event: kind,
    sequence: 0,
    at: '2025-11-02T10:05:00.000Z',
    late: false,
    workspace_id: 'ws_1',
    podcast_id: 'pod_1',
    episode_id: 'ep_1',
    campaign_id: 'cmp_1',
    line_item_id: 'li_1',
    creative_id: 'crv_1',
    break_key: 'pre',
    slot: 0,
    listener_key: 'listener',
    address_verdict: 'ok',
    user_agent_digest: userAgentDigest(player),
    country: 'DE',
    region: 'unknown',
    lists_version: lists.listsVersion,
    ...changes,
  });
  const events = async (scope = line, knownAt?: Date) =>
    Object.fromEntries(
      (await countClientEvents(pool, scope, range, knownAt)).map((one) => [one.event, Number(one.count)]),
    );

  test('is counted by kind, each report once, and adds nothing to what was delivered', async () => {
    const told = [
      event('start'),
      event('complete'),
      event('pause'),
      event('pause', { sequence: 1 }),
      event('start', { serving_id: 'srv_2' }),
    ];
    await record([seen(), ...told, ...told]);
    await record(told);
    expect(await events()).toEqual({ start: 2, complete: 1, pause: 2 });
    expect(await stages()).toEqual([0, 0, 0]);
    expect(await events({ ...line, workspaceId: 'ws_2' })).toEqual({});
    expect(await events(line, new Date())).toEqual({ start: 2, complete: 1, pause: 2 });
    expect(await events(line, new Date('2020-01-01'))).toEqual({});
  });

  test('counts for a serving as often as it can happen while its ad plays once; the excess is stored separately and shown', async () => {
    // 200 of every kind from one player, in posts of 50, by four consumers at once.
    const told = deliveryEventKinds.flatMap((kind) =>
      Array.from({ length: 200 }, (_, sequence) => event(kind, { sequence, ad_duration_ms: 12_000 })),
    );
    await record([seen()]);
    const work = batches(shuffledTwice(told, 3), 50);
    const consumer = async () => {
      const own = createCountingMemory();
      for (let batch = work.pop(); batch !== undefined; batch = work.pop()) await recordFacts(pool, batch, lists, own);
    };
    await Promise.all([consumer(), consumer(), consumer(), consumer()]);
    const once = ['loaded', 'impression', 'start', 'first_quartile', 'midpoint', 'third_quartile', 'complete', 'skip'];
    const expected = Object.fromEntries(
      deliveryEventKinds.map((kind) => [kind, once.includes(kind) ? 1 : kind === 'progress' ? 12 : 3]),
    );
    expect(await events()).toEqual(expected);
    expect(await events(line, new Date())).toEqual(expected);
    for (const knownAt of [undefined, new Date()])
      for (const { count, excess } of await countClientEvents(pool, line, range, knownAt))
        expect(count + excess).toBe(200n);
    const { rows } = await pool.query(
      `select judgement, count(*)::int as reports from client_event group by 1 order by 1`,
    );
    const counted = Object.values(expected).reduce((sum, count) => sum + count, 0);
    expect(rows).toEqual([
      { judgement: 'eligible', reports: counted },
      { judgement: 'excess', reports: 200 * deliveryEventKinds.length - counted },
    ]);
  });

  test('is bounded for each serving by itself, also when it waited for its user agent, and repeating excess changes nothing', async () => {
    const fresh = 'HarbourListener 5';
    const waiting = [0, 1, 2].flatMap((sequence) =>
      ['srv_1', 'srv_2'].map((serving_id) =>
        event('start', { serving_id, sequence, user_agent_digest: userAgentDigest(fresh) }),
      ),
    );
    await record(waiting);
    await record([seen(fresh)]);
    await record(waiting);
    const [starts] = await countClientEvents(pool, line, range);
    expect(starts).toEqual({ event: 'start', count: 2n, excess: 4n });
  });

  test('is bounded as for an ad of 30 s when the length of its ad is unknown', async () => {
    await record([seen(), ...Array.from({ length: 40 }, (_, sequence) => event('progress', { sequence }))]);
    expect(await countClientEvents(pool, line, range)).toEqual([{ event: 'progress', count: 30n, excess: 10n }]);
  });

  test('does not count from bots, data centres and senders without a user agent, but is stored with the reason', async () => {
    const bot = 'AhrefsBot/7.0';
    await record([
      seen(),
      seen(bot),
      event('start', { user_agent_digest: userAgentDigest(bot) }),
      event('complete', { address_verdict: 'dc_ip' }),
      event('click', { user_agent_digest: null }),
    ]);
    expect(await events()).toEqual({});
    const { rows } = await pool.query('select event, judgement from client_event order by event');
    expect(rows).toEqual([
      { event: 'click', judgement: 'no_ua' },
      { event: 'complete', judgement: 'dc_ip' },
      { event: 'start', judgement: 'bot_ua' },
    ]);
  });

  test('counts when any of its repetitions counts, whichever comes first', async () => {
    const scanned = { ...event('start'), address_verdict: 'dc_ip' as const };
    const played = event('start');
    const waiting = event('start', { user_agent_digest: userAgentDigest('HarbourListener 4') });
    for (const told of [
      [[scanned], [played]],
      [[played], [scanned]],
      [[scanned, played]],
      [[played, scanned]],
      [[scanned], [waiting], [seen('HarbourListener 4')]],
      [[waiting], [scanned], [played], [seen('HarbourListener 4')]],
    ]) {
      await emptyTables(database);
      memory = createCountingMemory();
      await record([seen()]);
      for (const batch of told) await record(batch);
      expect(await events()).toEqual({ start: 1 });
    }
  });

  test('waits for the text of its user agent and is counted once when it comes', async () => {
    const fresh = 'HarbourListener 4';
    const told = event('midpoint', { user_agent_digest: userAgentDigest(fresh) });
    await record([told]);
    expect(await events()).toEqual({});
    await record([seen(fresh), told]);
    await record([seen(fresh)]);
    expect(await events()).toEqual({ midpoint: 1 });
  });
});
