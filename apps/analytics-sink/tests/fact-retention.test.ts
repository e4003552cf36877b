import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readKeptFrom } from '@longwave/audience-store';
import type { DeliveryFact } from '@longwave/events';
import type { TestDatabase } from '@longwave/fleet';
import type { Pool } from '@longwave/postgres';
import { fact, lists, randomFacts, seen, withServing } from '@longwave/test-kit/delivery-facts';
import { declaredUserAgents, declaredUserAgentsSeen } from '../src/batches/row-facts.ts';
import { readConfiguration } from '../src/config.ts';
import { moveKeptFrom, removeFacts, removePendingFacts, removeRequests } from '../src/counting/fact-retention.ts';
import { reconcileAds } from '../src/ads/reconcile-ads.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { removeUserAgents } from '../src/counting/user-agent-table.ts';
import { emptyTables, useTables } from './_tables.ts';
import { runRecount } from './_recount-program.ts';

let database: TestDatabase;
let pool: Pool;
let folder: string;

useTables((tables) => ({ database, pool } = tables));
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'retention-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const record = (facts: readonly DeliveryFact[]) => recordFacts(pool, facts, lists, createCountingMemory());

/** Removes all that is older than 13 months at this time. */
async function sweep(now: string) {
  await moveKeptFrom(pool, new Date(now), 13);
  for (const remove of [removeRequests, removePendingFacts, removeFacts])
    while ((await remove(pool, 3)) === 3) continue;
}
const december = (day: number) => `2026-12-0${day}T15:00:00Z`;

const rowsOf = async (table: string, columns = '*') =>
  (await pool.query<object>(`select ${columns} from ${table}`)).rows.map((row) => JSON.stringify(row)).toSorted();
const count = async (table: string) => (await rowsOf(table)).length;
/** Everything that queries read. */
const numbers = async () => ({
  hours: await rowsOf('download_hour'),
  audience: await rowsOf('download_audience_hour'),
  ads: await rowsOf('ad_hour'),
  sessions: await rowsOf('session'),
  rolling: await rowsOf('rolling_download'),
  delivered: await rowsOf('ad_delivered'),
});

const recountTool = (...args: string[]) => runRecount(database, args);

const single = (id: string, startedAt: string) => fact({ fact_id: id, listener_key: id, started_at: startedAt });
const [old, young] = [single('old', '2025-10-30T10:00:00.000Z'), single('young', '2025-11-04T10:00:00.000Z')];

test('facts are removed 13 months after their day, and the numbers counted from them stay', async () => {
  await record([seen(), old, young]);
  const before = await numbers();
  await sweep('2026-11-30T23:59:59Z');
  expect(await count('fact')).toBe(2);
  await sweep(december(2));
  expect((await readKeptFrom(pool))?.toISOString()).toBe('2025-11-02T00:00:00.000Z');
  expect(await rowsOf('fact', 'fact_id')).toEqual(['{"fact_id":"young"}']);
  expect(await rowsOf('served_request', 'listener_key')).toEqual(['{"listener_key":"young"}']);
  expect(await numbers()).toEqual(before);
});

test('the configuration cannot keep facts for less than 13 months', () => {
  expect(() => readConfiguration({ FACT_MONTHS: '12' })).toThrow(/FACT_MONTHS/);
  expect(() => readConfiguration({ FACT_MONTHS: '13' })).not.toThrow(/FACT_MONTHS/);
});

test('a fact that comes again, or for the first time, after the facts of its time were removed takes nothing back', async () => {
  const half: [number, number][] = [[0, 700_000]];
  await record([seen(), old, young]);
  await sweep(december(2));
  const before = await numbers();
  await record([old, { ...old, fact_id: 'part', written: half }, single('late', '2025-10-30T12:00:00.000Z')]);
  expect(await numbers()).toEqual(before);
  expect(await count('restatement')).toBe(0);
  await sweep(december(2));
  expect(await count('fact')).toBe(1);
});

test('a fact that waits for its user agent is removed with its time', async () => {
  const unknown = { user_agent_digest: 'f'.repeat(64) };
  await record([seen(), { ...old, ...unknown }, { ...young, ...unknown }]);
  await sweep(december(2));
  expect(await rowsOf('pending_fact', 'fact_id')).toEqual(['{"fact_id":"young"}']);
});

test('reports of other parties stay', async () => {
  const [declaredAgent] = declaredUserAgentsSeen([{ user_agent_verdict: 'ok' } as never]);
  expect(declaredAgent!.user_agent).toBe(declaredUserAgents.ok);
  const declared = {
    ...old,
    ...{ fact_id: 'batch:1', lists_version: 'declared by them', user_agent_digest: declaredAgent!.user_agent_digest },
  };
  await record([seen(), declaredAgent!, old, young, { ...declared, listener_key: 'theirs' }]);
  await sweep(december(2));
  expect(await rowsOf('fact', 'fact_id')).toEqual(['{"fact_id":"batch:1"}', '{"fact_id":"young"}']);
  const before = (await numbers()).sessions.length;
  await record([{ ...declared, fact_id: 'batch:2', listener_key: 'another of theirs' }]);
  expect((await numbers()).sessions.length).toBe(before + 1);
});

describe('facts that come later are counted as if nothing had been removed', () => {
  const isLater = (one: DeliveryFact) => one.kind === 'byte_range_served' && one.started_at >= '2025-11-02T00:00';

  test('random listening around the boundary', async () => {
    let removed = 0;
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const facts = randomFacts(seed);
      const countWith = async (between: () => Promise<void>) => {
        await emptyTables(database);
        await record(facts.filter((one) => !isLater(one)));
        await between();
        await record(facts.filter(isLater));
        return numbers();
      };
      const expected = await countWith(async () => undefined);
      const found = await countWith(async () => {
        const before = await count('fact');
        await sweep(december(2));
        removed += before - (await count('fact'));
      });
      expect(found).toEqual(expected);
    }
    expect(removed).toBeGreaterThan(20);
  });

  test('the facts of daily listening stay, over changes of keys, until the run has ended', async () => {
    const nights = Array.from({ length: 20 }, (_, n) => {
      const at = new Date(Date.UTC(2025, 9, 25, 10) + n * 20 * 3_600_000);
      const month = at.toISOString().slice(0, 7);
      const isFirst = month === '2025-11' && at.getUTCDate() <= 2;
      return fact({
        ...{ fact_id: `night ${n}`, started_at: at.toISOString(), listener_key: `every night ${month}` },
        ...(isFirst && { previous_listener_key: 'every night 2025-10' }),
      });
    });
    await record([seen(), ...nights.slice(0, 16)]);
    const facts = await count('fact');
    await sweep(december(4));
    expect(await count('fact')).toBe(facts);
    await record(nights.slice(16));
    const found = await numbers();
    await emptyTables(database);
    await record([seen(), ...nights]);
    expect(await numbers()).toEqual(found);
    await sweep('2026-12-20T00:00:00Z');
    await sweep('2026-12-20T00:00:00Z');
    expect(await count('fact')).toBe(0);
  });
});

describe('a recount of removed facts', () => {
  const file = () => path.join(folder, 'facts.jsonl');

  test('an export begins with the facts that are stored, and a range before them is refused', async () => {
    await record([seen(), old, young]);
    const whole = path.join(folder, 'whole.jsonl');
    await recountTool('export', '--out', whole);
    await sweep(december(2));
    const refused = await recountTool('export', '--out', file(), '--from', '2025-11-01');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.err).toMatch(/from before 2025-11-02T00:00:00.000Z are no longer stored/);
    expect((await recountTool('export', '--out', file(), '--to', '2025-11-02')).code).toBe(0);
    expect((await recountTool('export', '--out', file())).code).toBe(0);
    const compared = await recountTool('compare', file());
    expect(compared).toMatchObject({ code: 0 });
    expect(compared.out).toMatch(/From 2025-11-02T00:00:00.000Z/);
    // An older file has the removed facts: its totals agree.
    const ofBefore = await recountTool('compare', whole);
    expect(ofBefore).toMatchObject({ code: 0 });
    expect(ofBefore.err).toMatch(/facts by judgement are not compared/);
    expect(ofBefore.out).toMatch(/ws_1 pod_1 +downloads +2 +2/);
  });

  test('facts whose user agent was removed count as waiting, which the tool says', async () => {
    await record([seen(), old, young]);
    expect(await removeUserAgents(pool, new Date(Date.now() + 1_000), 10)).toBe(1);
    await recountTool('export', '--out', file());
    const counted = await recountTool('count', file(), '--json');
    expect(JSON.parse(counted.out)).toMatchObject({
      facts: { waiting: 2 },
      windows: { calendar_utc: { podcasts: [] } },
    });
    expect(counted.err).toMatch(/2 facts name a user agent whose text is missing or no longer stored/);
    expect((await recountTool('compare', file())).code).toBe(1);
  });

  test('reconciliation reports deliveries whose facts are removed as unchecked, and finds nothing wrong with them', async () => {
    await record([seen(), withServing('srv_1', old), withServing('srv_2', young)]);
    const range = { from: new Date('2025-10-30T00:00Z'), to: new Date('2025-11-06T00:00Z') };
    await sweep(december(2));
    const { delivered, covered, unchecked, findings } = await reconcileAds(pool, 'ws_1', range);
    expect({ delivered, covered, unchecked }).toEqual({ delivered: 2, covered: 1, unchecked: 1 });
    expect(findings.map(({ check }) => check)).toEqual(['billed_without_decision']);
  });
});
