import { beforeEach, describe, expect, test } from '@jest/globals';
import { methodologyVersion } from '@longwave/audience';
import type { DeliveryFact } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { batches, fact, lists, seen, shuffledTwice, withServing } from '@longwave/test-kit/delivery-facts';
import { recordDecisions } from '../src/ads/ad-ledger.ts';
import { beReader } from '../src/ads/settled-until.ts';
import { createCountingMemory, recordFacts, type CountingMemory } from '../src/counting/record-facts.ts';
import { listAdjustments, postAdjustments } from '../src/ledger/adjustment-table.ts';
import { requireComplete, requireSettled } from '../src/ledger/known-at.ts';
import type { NewAdjustment, ServingsRequest, UnitsRequest } from '../src/ledger/ledger-requests.ts';
import { readServings, readUnits, sendHours } from '../src/ledger/units.ts';
import { countAds } from '../src/queries/ad-queries.ts';
import { decisionOf, randomServings, report } from './_cohorts.ts';
import { useTables } from './_tables.ts';

let pool: Pool;
let admin: Pool;
useTables((tables) => ({ pool, admin } = tables));
let memory: CountingMemory;
beforeEach(() => {
  memory = createCountingMemory();
});

const record = (...facts: readonly DeliveryFact[]) => recordFacts(pool, facts, lists, memory);
const decide = (...all: Parameters<typeof recordDecisions>[1]) => recordDecisions(pool, all, lists.listsVersion);
/** The database's time between two transactions. */
const now = async (): Promise<Date> =>
  (await pool.query<{ now: Date }>(`select pg_sleep(0.003), clock_timestamp() as now, pg_sleep(0.003)`)).rows[0]!.now;

const asked = (changes: Partial<UnitsRequest> & Pick<UnitsRequest, 'knownAt'>): UnitsRequest => ({
  workspaceId: 'ws_1',
  lineItemId: 'li_1',
  countingBasis: 'ad_delivered',
  until: new Date('2026-01-01'),
  decidedBounds: [],
  ...changes,
});
const units = async (changes: Partial<UnitsRequest> & Pick<UnitsRequest, 'knownAt'>) =>
  (await readUnits(pool, asked(changes))).units;
async function hours(knownAt: Date, countingBasis: UnitsRequest['countingBasis'] = 'ad_delivered') {
  const rows: string[] = [];
  const range = { from: new Date('2025-10-01'), to: new Date('2026-01-01') };
  await sendHours(
    pool,
    { workspaceId: 'ws_1', lineItemIds: ['li_1', 'li_2'], countingBasis, range, knownAt },
    async (sent) => {
      rows.push(
        ...sent.map(
          (row) => `${row.line_item_id} ${row.creative_id} ${row.hour.toISOString().slice(8, 13)} ${row.units}`,
        ),
      );
    },
  );
  return rows;
}

/** Reads servings, each with the hour that has its unit. */
async function servings(knownAt: Date, countingBasis: ServingsRequest['countingBasis'], workspaceId = 'ws_1') {
  const servingIds = ['srv_1', 'srv_2', 'srv_3', 'srv_9'];
  const rows = await readServings(pool, { workspaceId, servingIds, countingBasis, knownAt });
  return rows.map(({ hour, ...row }) => [
    ...[row.serving_id, row.line_item_id, row.creative_id],
    hour && hour.toISOString().slice(8, 13),
  ]);
}

describe('units of a line item', () => {
  test('count a serving once by each basis, in its first counted download, split by when it was decided', async () => {
    await decide(
      decisionOf('srv_1', { decided_at: '2025-11-01T10:00:00.000Z' }),
      decisionOf('srv_2', { decided_at: '2025-11-02T10:00:00.000Z' }),
      decisionOf('srv_3', { decided_at: '2025-11-02T11:00:00.000Z' }),
    );
    await record(
      seen(),
      withServing('srv_1', { fact_id: 'fct_1', started_at: '2025-11-02T12:00:00.000Z' }, false),
      withServing('srv_1', { fact_id: 'fct_2', listener_key: 'b', started_at: '2025-11-03T12:00:00.000Z' }, false),
      withServing('srv_2', { fact_id: 'fct_3', listener_key: 'c', started_at: '2025-11-03T12:00:00.000Z' }, false),
      withServing('srv_3', { fact_id: 'fct_4', listener_key: 'd', written: [[0, 161_000]] }, false),
      ...[report('srv_2', 'start'), report('srv_2', 'complete'), report('srv_3', 'start')],
    );
    const knownAt = await now();
    const decidedBounds = [new Date('2025-11-02T10:00:00Z'), new Date('2025-11-02T11:00:00Z')];
    expect(await units({ knownAt, decidedBounds })).toEqual([1, 1, 0]);
    expect(await units({ knownAt, decidedBounds, countingBasis: 'reserved' })).toEqual([1, 1, 1]);
    expect(await units({ knownAt, decidedBounds, countingBasis: 'served_bytes' })).toEqual([1, 1, 1]);
    expect(await units({ knownAt, decidedBounds, countingBasis: 'client_event' })).toEqual([0, 1, 1]);
    expect(await units({ knownAt, decidedBounds, countingBasis: 'completes' })).toEqual([0, 1, 0]);
    expect(await units({ knownAt, until: new Date('2025-11-03T12:00:00Z') })).toEqual([1]);
    expect(await units({ knownAt, workspaceId: 'ws_2' })).toEqual([0]);
    expect(await hours(knownAt)).toEqual(['li_1 crv_1 02T12 1', 'li_1 crv_1 03T12 1']);
    expect(await hours(knownAt, 'client_event')).toEqual(['li_1 crv_1 02T10 2']);
    const hoursOf = (all: Awaited<ReturnType<typeof servings>>) => all.map((one) => [one[0], one[3]]);
    expect(await servings(knownAt, 'ad_delivered')).toEqual([
      ['srv_1', 'li_1', 'crv_1', '02T12'],
      ['srv_2', 'li_1', 'crv_1', '03T12'],
      ['srv_3', 'li_1', 'crv_1', null],
    ]);
    expect(hoursOf(await servings(knownAt, 'reserved'))).toEqual([
      ['srv_1', '01T10'],
      ['srv_2', '02T10'],
      ['srv_3', '02T11'],
    ]);
    expect(hoursOf(await servings(knownAt, 'completes'))).toEqual([
      ['srv_1', null],
      ['srv_2', '02T10'],
      ['srv_3', null],
    ]);
    expect(await servings(knownAt, 'ad_delivered', 'ws_2')).toEqual([]);
    expect(await servings(new Date('2025-10-01'), 'ad_delivered')).toEqual([]);
    expect(await readUnits(pool, asked({ knownAt }))).toMatchObject({
      methodologyVersion,
      listsVersion: lists.listsVersion,
    });
    expect(await readUnits(pool, asked({ knownAt, lineItemId: 'li_9' }))).toEqual({
      ...{ units: [0], methodologyVersion: '', listsVersion: '' },
    });
  });

  test('a decision that was not known yet leaves its serving at the hour of its delivery', async () => {
    await record(seen(), withServing('srv_1', { fact_id: 'fct_1', started_at: '2025-11-02T12:00:00.000Z' }));
    const before = await now();
    await decide(decisionOf('srv_1', { decided_at: '2025-11-01T10:00:00.000Z' }));
    const decidedBounds = [new Date('2025-11-02T00:00:00Z')];
    expect(await units({ knownAt: before, decidedBounds })).toEqual([0, 1]);
    expect(await units({ knownAt: await now(), decidedBounds })).toEqual([1, 0]);
    expect(await units({ knownAt: before, decidedBounds })).toEqual([0, 1]);
  });

  test.each([61, 62])('are the same whenever they are asked, whatever came later (seed %i)', async (seed) => {
    const limits = { podcastEpisodes: 1, episodes: 3, addressDownloads: 1_000 };
    const known: { readonly at: Date; readonly confirmed: bigint; readonly hours: readonly string[] }[] = [];
    const range = { from: new Date('2025-10-30T00:00Z'), to: new Date('2025-11-06T00:00Z') };
    for (const batch of batches(shuffledTwice(randomServings(seed).facts, seed), 16)) {
      await recordFacts(pool, batch, lists, memory, limits);
      const { confirmed } = await countAds(pool, { workspaceId: 'ws_1', kind: 'lineItemId', id: 'li_1' }, range);
      const at = await now();
      known.push({ at, confirmed, hours: await hours(at) });
    }
    expect(new Set(known.map((one) => one.hours.join())).size).toBeGreaterThan(2);
    for (const one of known) {
      expect(await units({ knownAt: one.at })).toEqual([Number(one.confirmed)]);
      expect(await hours(one.at)).toEqual(one.hours);
    }
  });
});

describe('a time of knowledge', () => {
  const later = { code: 'temporarily_unavailable' };
  test('up to which facts were not read yet is to be asked again later, and one that was answered is answered for ever', async () => {
    const before = new Date(Date.now() - 31_000);
    await expect(requireComplete(pool, before)).rejects.toMatchObject(later);
    await pool.query(`insert into producer_mark values ('one', 0, now() + interval '1 hour', false)`);
    await expect(requireComplete(pool, new Date(Date.now() - 5_000))).rejects.toMatchObject(later);
    expect(await requireComplete(pool, before)).toBeGreaterThanOrEqual(before.getTime());
    const waiting = fact({
      ...{ fact_id: 'waits', started_at: new Date(Date.now() - 3_600_000).toISOString() },
      user_agent_digest: 'f'.repeat(64),
    });
    await record(waiting);
    expect(await requireComplete(pool, before)).toBe(Date.parse(waiting.started_at));
  });

  test('at which a transaction still runs is to be asked again, unless the transaction only reads; one to come is refused', async () => {
    const future = new Date(Date.now() + 120_000);
    await expect(requireSettled(pool, future)).rejects.toMatchObject({ code: 'validation_failed' });
    const client = await pool.connect();
    try {
      await client.query('begin');
      // The transaction of a reader does not show by its beginning: nothing it began before is still to come.
      await client.query('select pg_sleep(0.02)');
      const begun = await now();
      await expect(requireSettled(pool, begun)).rejects.toMatchObject(later);
      await admin.query('select pg_sleep(1.02)');
      await expect(requireSettled(pool, begun)).rejects.toMatchObject(later);
      await beReader(client);
      await requireSettled(pool, begun);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});

describe('adjustments', () => {
  const item = (nth: number, changes: Partial<NewAdjustment> = {}): NewAdjustment => ({
    ...{
      item_id: `rci_${nth}`,
      line_item_id: 'li_1',
      day: '2025-11-02',
      quantity: -nth,
      counting_basis: 'ad_delivered',
    },
    reason: 'Their count stands.',
    ...changes,
  });
  const items = [1, 2, 3, 4, 5].map((nth) => item(nth));
  const stored = async (knownAt: Date, workspaceId = 'ws_1') =>
    (await listAdjustments(pool, workspaceId, ['li_1'], knownAt)).map(
      (row) => `${row.item_id} ${row.day} ${row.quantity}`,
    );

  test('of a reconciliation are appended once by twenty posts at once', async () => {
    const posts = Array.from({ length: 20 }, (_, nth) =>
      postAdjustments(pool, 'ws_1', 'rec_1', nth % 2 ? items : items.toReversed()),
    );
    const posted = await Promise.all(posts);
    expect(posted.filter((count) => count > 0)).toEqual([5]);
    expect((await stored(await now())).sort()).toEqual(items.map((one) => `${one.item_id} 2025-11-02 ${one.quantity}`));
    expect(await stored(await now(), 'ws_2')).toEqual([]);
    expect(await stored(new Date('2025-11-05'))).toEqual([]);
  });

  test('with other content for an item that was posted are refused whole; another reconciliation has items of its own', async () => {
    await postAdjustments(pool, 'ws_1', 'rec_1', [item(1)]);
    await expect(postAdjustments(pool, 'ws_1', 'rec_1', [item(2), item(1, { quantity: 9 })])).rejects.toMatchObject({
      code: 'idempotency_conflict',
      message: expect.stringContaining('rci_1'),
    });
    expect(await postAdjustments(pool, 'ws_1', 'rec_1', [item(1), item(2)])).toBe(1);
    expect(await postAdjustments(pool, 'ws_1', 'rec_2', [item(1, { quantity: 9 })])).toBe(1);
    expect(await stored(await now())).toEqual(['rci_1 2025-11-02 -1', 'rci_2 2025-11-02 -2', 'rci_1 2025-11-02 9']);
  });

  test('are changed and removed by nobody, not even by the one who made the tables; nor is an entry but for its listener', async () => {
    await postAdjustments(pool, 'ws_1', 'rec_1', [item(1)]);
    await record(seen(), withServing('srv_1', { fact_id: 'fct_1' }));
    for (const role of [pool, admin]) {
      await expect(role.query('update ad_adjustment set quantity = 9')).rejects.toThrow('ad_adjustment is append-only');
      await expect(role.query('delete from ad_adjustment')).rejects.toThrow('ad_adjustment is append-only');
      await expect(role.query('update ad_entry set quantity = -1')).rejects.toThrow('ad_entry is append-only');
      await expect(role.query('delete from ad_entry')).rejects.toThrow('ad_entry is append-only');
    }
    for (const table of ['ad_adjustment', 'ad_entry'])
      await expect(admin.query(`truncate ${table}`)).rejects.toThrow(`${table} is append-only`);
    expect((await pool.query(`update ad_entry set listener_key = 'erased'`)).rowCount).toBe(4);
  });

  test('leave what statements are computed from: a counted report and the time of a decision are changed and removed by nobody', async () => {
    await decide(decisionOf('srv_1'));
    const waiting = { fact_id: 'waits', user_agent_digest: 'f'.repeat(64) };
    await record(seen(), report('srv_1', 'start'), report('srv_1', 'complete', waiting));
    const knownAt = await now();
    for (const role of [pool, admin]) {
      for (const change of [
        `update client_event set judgement = 'bot' where fact_id <> 'waits'`,
        `update client_event set judgement = null, counted_at = null where fact_id <> 'waits'`,
        `update client_event set counted_at = now() where fact_id <> 'waits'`,
        `update client_event set judgement = 'eligible', counted_at = '2025-11-02' where fact_id = 'waits'`,
        `delete from client_event`,
      ])
        await expect(role.query(change)).rejects.toThrow('client_event is append-only');
      for (const change of ['update ad_serving set decided_at = now()', 'delete from ad_serving'])
        await expect(role.query(change)).rejects.toThrow('ad_serving is append-only');
    }
    for (const table of ['client_event', 'ad_serving'])
      await expect(admin.query(`truncate ${table}`)).rejects.toThrow(`${table} is append-only`);
    expect((await pool.query(`update client_event set listener_key = 'erased'`)).rowCount).toBe(2);
    expect(await units({ knownAt, countingBasis: 'client_event' })).toEqual([1]);
  });
});
