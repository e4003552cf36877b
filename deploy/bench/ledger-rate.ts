import { createEventBus, type EventBus } from '@longwave/event-bus';
import { topics, type ByteRangeServed, type DecisionMade } from '@longwave/events';
import type { Fleet } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import { downloadFacts, factsOfDownload, publishFacts, seen } from './count-rate.ts';
import { compare, type Round, type Row } from './measure.ts';

const items = 10_000;
const lineItems = 20;
const rounds = 3;

/** Whole downloads in one fact each, of as many listeners; with ads each of them delivers a serving of its own. */
function wholeDownloads(workspaceId: string, withAds: boolean): ByteRangeServed[] {
  const firstFacts = downloadFacts(items, workspaceId).filter((_, nth) => nth % factsOfDownload === 0);
  return firstFacts.map((fact, nth) => ({
    ...fact,
    arrangement_id: `arr ${workspaceId} ${nth}`,
    written: fact.requested,
    parts: fact.parts.map(({ ad, ...part }) => {
      if (ad === undefined) return part;
      if (!withAds) return { ...part, kind: 'content' };
      return { ...part, ad: { ...ad, line_item_id: `li_${nth % lineItems}`, serving_id: `srv ${workspaceId} ${nth}` } };
    }),
  }));
}

/** Decisions of one break with one ad, as many as a busy installation makes in a quarter of an hour. */
const decisionsOf = (workspaceId: string): DecisionMade[] =>
  Array.from({ length: items }, (_, nth) => ({
    ...{ decision_id: newId('dec'), workspace_id: workspaceId, podcast_id: `pod ${nth % 10}` },
    ...{ episode_id: `ep ${nth % 50}`, country: 'DE', surface_class: 'download' },
    decided_at: new Date(Date.parse('2026-11-02T10:00:00Z') + nth * 90).toISOString(),
    slots: [
      {
        ...{ serving_id: `srv ${workspaceId} ${nth}`, campaign_id: 'cmp_1', line_item_id: `li_${nth % lineItems}` },
        ...{ creative_id: 'crv_1', break_key: 'pre', slot: 0, billable: true },
      },
    ],
  }));

/** Puts decisions on the bus and waits until the hourly numbers have all of them. */
async function enterDecisions(bus: EventBus, pool: Pool, workspaceId: string): Promise<void> {
  const messages = decisionsOf(workspaceId).map((payload) => {
    const { decision_id: id } = payload;
    return { topic: topics.decisions, key: id, id, type: 'decision.made', payload };
  });
  for (let at = 0; at < items; at += 1000) await bus.publish(messages.slice(at, at + 1000));
  await untilSum(pool, 'decided', 'ad_hour', workspaceId);
}

/** Puts facts on the bus and waits until the hourly numbers have all their downloads. */
async function countFacts(bus: EventBus, pool: Pool, facts: readonly ByteRangeServed[]): Promise<void> {
  for (let at = 0; at < items; at += 1000) await publishFacts(bus, facts.slice(at, at + 1000));
  await untilSum(pool, 'downloads', 'download_hour', facts[0]!.workspace_id);
}

/** Waits until the hourly numbers of a workspace have all items. */
async function untilSum(pool: Pool, number: string, table: string, workspaceId: string): Promise<void> {
  const isWhole = async () => {
    const { rows } = await pool.query<{ sum: number }>(
      `select coalesce(sum(${number}), 0)::int as sum from ${table} where workspace_id = $1`,
      [workspaceId],
    );
    return rows[0]!.sum === items ? true : undefined;
  };
  await until(number, isWhole, { timeoutMs: 120_000 });
}

/** Appends the entries of the same decisions to a table like the ledger, in transactions as large as the sink's. */
async function insertBare(pool: Pool, workspaceId: string): Promise<void> {
  const entries = decisionsOf(workspaceId).map(({ slots, decided_at, ...decision }, id) => ({
    ...{ ...decision, ...slots[0]!, id, recorded_at: decided_at, hour: decided_at, stage: 'decided', quantity: 1 },
    ...{ methodology_version: 'bench', lists_version: 'bench', restates: false, region: 'unknown', app: 'unknown' },
    ...{ device: 'unknown', platform: 'unknown', operating_system: 'unknown' },
  }));
  await pool.query('truncate bare_entry');
  for (let at = 0; at < items; at += 500)
    await pool.query(`insert into bare_entry select * from json_populate_recordset(null::bare_entry, $1)`, [
      JSON.stringify(entries.slice(at, at + 500)),
    ]);
}

/** What the ledger of ads costs: facts that deliver an ad each against the same without ads, and decisions against bare inserts of their entries. */
export async function ledgerRates(fleet: Fleet): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack();
  const pool = stack.adopt(createPool(fleet.adminDatabaseUrl, 'audience', { name: 'bench' }), (each) => each.end());
  const bus = stack.use(await createEventBus({ kind: 'redis', redisUrl: fleet.redisUrl, clientName: 'bench' }));
  stack.defer(async () => void (await pool.query('drop table if exists bare_entry')));
  await pool.query('create table bare_entry (like ad_entry including all)');
  await publishFacts(bus, [seen()]);
  const timed = async (work: () => Promise<void>): Promise<Round> => {
    const started = performance.now();
    await work();
    return { value: (items * 1000) / (performance.now() - started), items };
  };
  const decisions = await compare(
    { name: 'decisions (bus to ledger)', unit: 'decisions/s', baselineName: 'bare inserts of their entries' },
    rounds,
    () => timed(() => enterDecisions(bus, pool, newId('ws'))),
    () => timed(() => insertBare(pool, newId('ws'))),
  );
  // Each round delivers what was decided before, and one more does not count.
  const decided = Array.from({ length: rounds + 1 }, () => newId('ws'));
  for (const workspaceId of decided) await enterDecisions(bus, pool, workspaceId);
  const counting = await compare(
    { name: 'counting facts that deliver an ad each', unit: 'facts/s', baselineName: 'the same facts without ads' },
    rounds,
    () => timed(() => countFacts(bus, pool, wholeDownloads(decided.pop()!, true))),
    () => timed(() => countFacts(bus, pool, wholeDownloads(newId('ws'), false))),
  );
  return [decisions, counting];
}
