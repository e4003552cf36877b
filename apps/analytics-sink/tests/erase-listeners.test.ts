import { beforeEach, describe, expect, test } from '@jest/globals';
import { keyDay, userAgentDigest, type VelocityLimits } from '@longwave/audience';
import { factColumns, factOf, type FactRow } from '@longwave/audience-store';
import type { ByteRangeServed, DeliveryEvent, DeliveryFact } from '@longwave/events';
import type { TestDatabase } from '@longwave/fleet';
import { isLockFailure, type Pool } from '@longwave/postgres';
import { batches, fact, lists, randomFacts, seen, shuffledTwice, withServing } from '@longwave/test-kit/delivery-facts';
import { reconcileAds } from '../src/ads/reconcile-ads.ts';
import { createCountingMemory, recordFacts, type CountingMemory } from '../src/counting/record-facts.ts';
import { collectListeners, eraseListeners } from '../src/erasure/erase-listeners.ts';
import { decideAnomaly } from '../src/velocity/decide-anomaly.ts';
import { recounted, stored, totalsAndLedgers } from './_counts.ts';
import { runRecount } from './_recount-program.ts';
import { useTables } from './_tables.ts';

let database: TestDatabase;
let pool: Pool;
let memory: CountingMemory;
useTables((tables) => ({ database, pool } = tables));
beforeEach(() => {
  memory = createCountingMemory();
});

/** Keys as public-delivery makes them: 64 hex digits. */
const keyOf = (name: string) => Buffer.from(name).toString('hex').padEnd(64, '0');
const range = { from: new Date('2025-10-30T00:00Z'), to: new Date('2025-11-06T00:00Z') };
const roomy: VelocityLimits = { podcastEpisodes: 50, episodes: 500, addressDownloads: 2_000 };

/** Random listening to an episode in each of two workspaces, by listeners and addresses with keys of their own. */
const inTwoWorkspaces = (seed: number): DeliveryFact[] =>
  randomFacts(seed).map((one): DeliveryFact => {
    if (one.kind !== 'byte_range_served') return one;
    const { listener_key, previous_listener_key, episode_id } = one;
    return {
      ...one,
      ...(episode_id === 'ep_2' && { workspace_id: 'ws_2', podcast_id: 'pod_2' }),
      listener_key: keyOf(listener_key),
      address_key: keyOf(`address ${listener_key[0]} ${one.started_at.slice(0, 10)}`),
      ...(previous_listener_key && { previous_listener_key: keyOf(previous_listener_key) }),
      arrangement_id: `${one.arrangement_id} ${episode_id}`,
    };
  });

/** All facts as they are stored, and their user agents. */
async function storedFacts(): Promise<DeliveryFact[]> {
  const { rows } = await pool.query<FactRow>(
    `select ${factColumns} from fact f join layout l on l.digest = f.layout_digest`,
  );
  return [seen(), seen('AhrefsBot/7.0'), ...rows.map(factOf)];
}

/** Every row of every table as text, by table, but the erasures themselves. */
async function dump(): Promise<Map<string, string[]>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'audience' and tablename not like '\\_%'
       and tablename <> 'listener_erasure' order by 1`,
  );
  const texts = new Map<string, string[]>();
  for (const { name } of tables) {
    const { rows } = await pool.query<{ text: string }>(`select to_jsonb(t)::text as text from "${name}" t order by 1`);
    texts.set(
      name,
      rows.map(({ text }) => text),
    );
  }
  return texts;
}

const rowsOf = (texts: Map<string, string[]>, word: string) =>
  [...texts.values()].flat().filter((t) => t.includes(word));

/** The counts as people see them, without keys. */
async function numbers() {
  const { downloads, rolling, ads, billed, hours } = await stored(pool);
  const { rows: listeners } = await pool.query(
    `select workspace_id, window_on::text, count(distinct listener_key)::int as listeners from session where counted
     group by 1, 2 order by 1, 2`,
  );
  const { rows: distinct } = await pool.query(
    `select workspace_id, count(distinct listener_key)::int as listeners from fact group by 1 order by 1`,
  );
  return {
    sizes: [downloads, rolling, ads, billed].map((rows) => rows.length),
    ...{ hours, listeners, distinct },
    ledgers: await totalsAndLedgers(pool),
    reconciled: await reconcileAds(pool, 'ws_1', range),
  };
}

let erasures = 0;
/** Erases listeners of a workspace. */
async function erase(workspaceId: string, keys: readonly string[], erasureId = `lde_${++erasures}`) {
  await collectListeners(pool, { erasureId, workspaceId }, keys);
  return eraseListeners(pool, { erasureId, workspaceId });
}

const record = (facts: readonly DeliveryFact[], limits = roomy) => recordFacts(pool, facts, lists, memory, limits);

/** Repeats what lost a deadlock, as followers and jobs do. */
const withoutDeadlock = async <T>(work: () => Promise<T>): Promise<T> => {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!isLockFailure(error)) throw error;
    }
};

describe('erasing the listeners of a workspace', () => {
  test.each([1, 2, 3, 4])(
    'changes no number, and a recount of the facts gives the same rows (seed %i)',
    async (seed) => {
      for (const batch of batches(shuffledTwice(inTwoWorkspaces(seed), seed), 40)) await record(batch);
      const before = await numbers();
      const { rows } = await erase('ws_1', [keyOf('a10'), keyOf('b11')]);
      expect(Math.min(rows['fact']!, rows['served_request']!, rows['session']!)).toBeGreaterThan(0);
      expect(await numbers()).toEqual(before);
      expect(await stored(pool)).toEqual(recounted(await storedFacts()));
    },
  );

  test.each([5, 6])('changes nothing of what is held, with few downloads allowed (seed %i)', async (seed) => {
    const limits = { podcastEpisodes: 1, episodes: 1, addressDownloads: 3 };
    for (const batch of batches(shuffledTwice(inTwoWorkspaces(seed), seed), 40)) await record(batch, limits);
    const before = await numbers();
    for (const workspaceId of ['ws_1', 'ws_2']) await erase(workspaceId, ['a10', 'b10', 'c10', 'a11'].map(keyOf));
    expect(await numbers()).toEqual(before);
    expect(await stored(pool)).toEqual(recounted(await storedFacts(), { limits, released: new Set() }));
  });

  test('leaves nothing of their keys in its rows, links of other months included, and touches no row of another workspace', async () => {
    await record(inTwoWorkspaces(7));
    const before = await dump();
    // The key of October leads to that of November.
    await erase('ws_1', [keyOf('a10')]);
    const after = await dump();
    const forgotten = [keyOf('a10'), keyOf('a11'), keyOf('address a')];
    for (const key of forgotten) expect(rowsOf(after, key).filter((text) => text.includes('"ws_1"'))).toEqual([]);
    expect(rowsOf(before, keyOf('a10')).filter((text) => text.includes('"ws_1"')).length).toBeGreaterThan(5);
    const elsewhere = (texts: Map<string, string[]>) => rowsOf(texts, '"ws_2"');
    expect(elsewhere(after)).toEqual(elsewhere(before));
    expect(elsewhere(after).some((text) => text.includes(keyOf('a10')))).toBe(true);
    expect(rowsOf(after, keyOf('b11'))).toEqual(rowsOf(before, keyOf('b11')));
  });

  test('reaches what waits for a user agent, what was restated, what players reported and what was released by hand', async () => {
    const key = keyOf('everywhere');
    const day = '2025-11-02';
    const late = withServing('srv_1', {
      fact_id: 'f1',
      listener_key: key,
      address_key: keyOf('there'),
      started_at: `${day}T00:05:00.000Z`,
    });
    await record([seen(), late]);
    await record([{ ...late, fact_id: 'f0', started_at: '2025-11-01T23:58:00.000Z', at: '2025-11-01T23:58:00.000Z' }]);
    const event: DeliveryEvent = {
      ...{
        kind: 'delivery_event',
        fact_id: 'e1',
        serving_id: 'srv_1',
        event: 'start',
        sequence: 0,
        at: late.at,
        late: false,
      },
      ...{ workspace_id: 'ws_1', podcast_id: 'pod_1', episode_id: 'ep_1', campaign_id: 'cmp_1', line_item_id: 'li_1' },
      ...{ creative_id: 'crv_1', break_key: 'pre', slot: 0, listener_key: key, address_verdict: 'ok' },
      ...{ user_agent_digest: late.user_agent_digest, country: 'DE', region: 'unknown', lists_version: 'lists' },
    };
    const unknown = 'NeverSeen/1';
    const waiting = fact({
      ...{ fact_id: 'f2', listener_key: key, address_key: keyOf('there'), started_at: `${day}T05:00:00.000Z` },
      ...{ episode_id: 'ep_9', user_agent_digest: userAgentDigest(unknown) },
    });
    const held = Array.from({ length: 51 }, (_, nth) =>
      fact({ fact_id: `s${nth}`, listener_key: key, episode_id: `ep_${nth + 20}`, address_key: keyOf('there') }),
    );
    await record([event, waiting, ...held]);
    await decideAnomaly(
      pool,
      { kind: 'listener', key, day, decision: 'release', decidedBy: 'Ada', reason: 'A school.' },
      lists.listsVersion,
    );
    const before = await numbers();
    const { rows, keptListeners } = await erase('ws_1', [key]);
    expect(keptListeners).toBe(0);
    for (const table of [
      'pending_fact',
      'restatement',
      'client_event',
      'anomaly_decision',
      'velocity_day',
      'ad_serving',
    ])
      expect([table, rows[table]! > 0]).toEqual([table, true]);
    const after = await dump();
    expect(rowsOf(after, key)).toEqual([]);
    expect(rowsOf(after, keyOf('there'))).toEqual([]);
    expect(await numbers()).toEqual(before);
    // The waiting fact is counted for the listener's new key.
    await record([seen(unknown)]);
    expect(rowsOf(await dump(), key)).toEqual([]);
    const facts = await storedFacts();
    const [own] = facts.filter((one): one is ByteRangeServed => one.kind === 'byte_range_served');
    const released = new Set([keyDay('listener', own!.listener_key, day)]);
    expect(await stored(pool)).toEqual(recounted([...facts, seen(unknown)], { limits: roomy, released }));
  });

  test('the program that recounts facts finds no difference afterwards', async () => {
    await record(inTwoWorkspaces(3));
    await erase('ws_1', [keyOf('b10')]);
    const file = `${process.env['TMPDIR'] ?? '/tmp'}/erased-${process.pid}.jsonl.gz`;
    expect((await runRecount(database, ['export', '--out', file])).code).toBe(0);
    expect((await runRecount(database, ['compare', file])).code).toBe(0);
  });
});

test('a listener whose day is held for what was done in two workspaces stays until the facts expire, and is counted as such', async () => {
  const key = keyOf('glutton');
  const episodes = (workspace: string, count: number) =>
    Array.from({ length: count }, (_, nth) =>
      fact({
        fact_id: `${workspace} ${nth}`,
        listener_key: key,
        workspace_id: workspace,
        podcast_id: workspace,
        episode_id: `${workspace} ${nth}`,
      }),
    );
  await record([seen(), ...episodes('ws_1', 3), ...episodes('ws_2', 51)]);
  const before = await dump();
  expect(await erase('ws_1', [key])).toMatchObject({ keptListeners: 1, rows: { fact: 0, session: 0 } });
  expect(await dump()).toEqual(before);
});

describe('an erasure', () => {
  test('that is repeated, whatever it names, answers as the first time and changes nothing', async () => {
    await record(inTwoWorkspaces(2));
    const first = await erase('ws_1', [keyOf('a10')], 'lde_again');
    const after = await dump();
    expect(await erase('ws_1', [keyOf('b10')], 'lde_again')).toEqual(first);
    expect(await dump()).toEqual(after);
    expect(await collectListeners(pool, { erasureId: 'lde_again', workspaceId: 'ws_1' }, [keyOf('b10')])).toEqual([]);
  });

  test('that was interrupted goes on with the keys that it collected first', async () => {
    await record(inTwoWorkspaces(2));
    const name = { erasureId: 'lde_killed', workspaceId: 'ws_1' };
    const collected = await collectListeners(pool, name, [keyOf('a10')]);
    expect(collected).toEqual([keyOf('a10'), keyOf('a11')]);
    expect(await collectListeners(pool, name, [])).toEqual(collected);
    await eraseListeners(pool, name);
    expect(rowsOf(await dump(), keyOf('a10')).filter((text) => text.includes('"ws_1"'))).toEqual([]);
  });

  test('that waits while another one erases part of its listeners goes on with the rest', async () => {
    await record(inTwoWorkspaces(2));
    const waiting = { erasureId: 'lde_waiting', workspaceId: 'ws_1' };
    const collected = await collectListeners(pool, waiting, [keyOf('a10'), keyOf('b10')]);
    expect(collected).toEqual(expect.arrayContaining([keyOf('a10'), keyOf('b10')]));
    await erase('ws_1', [keyOf('a10')]);
    const rest = await collectListeners(pool, waiting, []);
    expect(rest).toContain(keyOf('b10'));
    expect(rest).not.toContain(keyOf('a10'));
    await eraseListeners(pool, waiting);
    expect(rowsOf(await dump(), keyOf('b10')).filter((text) => text.includes('"ws_1"'))).toEqual([]);
  });

  test('says nothing of listeners that the workspace never had', async () => {
    const key = keyOf('elsewhere');
    const facts = ['ws_2', 'ws_3'].flatMap((workspace) =>
      Array.from({ length: 51 }, (_, nth) =>
        fact({
          ...{ fact_id: `${workspace} ${nth}`, listener_key: key, workspace_id: workspace, podcast_id: workspace },
          episode_id: `${workspace} ${nth}`,
        }),
      ),
    );
    await record([seen(), ...facts]);
    expect(await erase('ws_1', [key])).toMatchObject({ keptListeners: 0, rows: { fact: 0, session: 0 } });
  });

  test('is known to its own workspace alone', async () => {
    await erase('ws_1', [], 'lde_own');
    await expect(eraseListeners(pool, { erasureId: 'lde_own', workspaceId: 'ws_2' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('while its listener is being counted leaves each fact and its download under one key', async () => {
    const facts = inTwoWorkspaces(8);
    await record([seen()]);
    const pieces = batches(facts, 8);
    await Promise.all([
      (async () => {
        for (const piece of pieces) await withoutDeadlock(() => record(piece));
      })(),
      (async () => {
        for (let nth = 0; nth < 6; nth++) await withoutDeadlock(() => erase('ws_1', ['a10', 'b11', 'c11'].map(keyOf)));
      })(),
    ]);
    await record(facts);
    expect(await stored(pool)).toEqual(recounted(await storedFacts()));
  });
});

test('ledgers stay append-only in everything but the key of a listener', async () => {
  await record([seen(), withServing('srv_1', { fact_id: 'f1' })]);
  for (const change of [
    'update ad_entry set quantity = 2',
    'update ad_entry set listener_key = null',
    'delete from ad_entry',
    `update ad_entry set listener_key = 'x', quantity = 2`,
  ])
    await expect(pool.query(change)).rejects.toThrow('append-only');
});
