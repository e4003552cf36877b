import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { TestDatabase } from '@longwave/fleet';
import type { Pool } from '@longwave/postgres';
import { lists, randomFacts } from '@longwave/test-kit/delivery-facts';
import { eraseListeners, collectListeners } from '../src/erasure/erase-listeners.ts';
import { importRequest } from '../src/evidence/evidence-requests.ts';
import { importEvidence, listEvidenceRows } from '../src/evidence/evidence-table.ts';
import {
  countByDimension,
  countByEpisode,
  countDownloads,
  countEpisodeDays,
  countEpisodes,
  countTotals,
  countWindows,
  findFirstDownloads,
} from '../src/queries/count-queries.ts';
import { removeFacts, removePendingFacts, removeRequests } from '../src/counting/fact-retention.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { stored, totalsAndLedgers } from './_counts.ts';
import { reportOf, rowOf } from './_evidence.ts';
import { runRecount } from './_recount-program.ts';
import { useTables } from './_tables.ts';

let database: TestDatabase;
let pool: Pool;
let folder: string;

useTables((tables) => ({ database, pool } = tables));
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'evidence-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const range = { from: new Date('2025-10-01T00:00Z'), to: new Date('2025-12-01T00:00Z') };

/** Evidence about the very episodes, days and workspace of the facts. */
async function importSome(): Promise<void> {
  for (const kind of ['delivery', 'revenue', 'engagement']) {
    const numbers = { plays: 900n, listeners: 800n, completes: 700n, impressions: 600n, revenueMicros: 1_000_000n };
    const rows = ['ep_1', 'ep_2', 'ep_3'].map((episode) => rowOf(episode, 1_000n, numbers));
    const report = { ...reportOf(`pev_${kind}`), kind, ...(kind === 'revenue' && { currency: 'EUR' }) };
    const request = importRequest.parse({ report, firstRow: 0, rows });
    await importEvidence(pool, request.report, request.firstRow, request.rows);
  }
}

/** Every row of every table but those of evidence. */
async function otherTables(): Promise<Record<string, unknown>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables
     where schemaname = 'audience' and tablename not like '\\_%' and tablename not like 'evidence%' order by 1`,
  );
  const contents: Record<string, unknown> = {};
  for (const { name } of tables)
    contents[name] = (await pool.query(`select to_jsonb(one) as row from ${name} one order by 1`)).rows;
  return contents;
}

/** Everything that is counted, shown, exported and counted again. */
async function allNumbers(name: string) {
  const scope = { workspaceId: 'ws_1', podcastId: 'pod_1', episodeId: undefined };
  const podcasts = ['pod_1', 'pod_2'];
  const file = path.join(folder, `${name}.jsonl.gz`);
  expect(await runRecount(database, ['export', '--out', file])).toMatchObject({ code: 0 });
  const compared = await runRecount(database, ['compare', file, '--json']);
  const dimensions = ['country', 'region', 'app', 'device', 'platform', 'operatingSystem'] as const;
  return {
    tables: await otherTables(),
    stored: await stored(pool),
    totals: await totalsAndLedgers(pool),
    downloads: await countDownloads(pool, scope, range, 'day'),
    byEpisode: await countByEpisode(pool, scope, range),
    episodes: await countEpisodes(pool, 'ws_1', podcasts, range),
    dimensions: await Promise.all(dimensions.map((each) => countByDimension(pool, scope, range, each))),
    podcasts: await countTotals(pool, 'ws_1', podcasts, range),
    first: await findFirstDownloads(pool, 'ws_1', podcasts),
    days: await countEpisodeDays(pool, scope, range),
    windows: await countWindows(pool, 'ws_1', [{ episodeId: 'ep_1', range }]),
    exported: gunzipSync(readFileSync(file)).toString(),
    figures: (JSON.parse(compared.out) as { figures: unknown }).figures,
    code: compared.code,
  };
}

test('no count, export or recount changes by a number that another platform reports, whether it comes before or after', async () => {
  const facts = randomFacts(1);
  const half = Math.floor(facts.length / 2);
  const memory = createCountingMemory();
  // The user agents come last.
  await recordFacts(pool, [...facts.slice(-2), ...facts.slice(0, half)], lists, memory);
  const before = await allNumbers('before');
  await importSome();
  const after = await allNumbers('after');
  const masked = ({ exported, ...numbers }: typeof before) => ({
    ...numbers,
    // The first line of an export says when it was made.
    exported: exported.split('\n').slice(1),
  });
  expect(masked(after)).toEqual(masked(before));
  expect(after.downloads.reduce((sum, { downloads }) => sum + downloads, 0n)).toBeGreaterThan(0n);
  expect(after.code).toBe(0);
  await recordFacts(pool, facts.slice(half), lists, memory);
  expect((await allNumbers('end')).code).toBe(0);
});

test('evidence has nothing of a listener: an erasure and the sweeps leave it as it is', async () => {
  await recordFacts(pool, randomFacts(1), lists, createCountingMemory());
  await importSome();
  const rows = () => listEvidenceRows(pool, 'ws_1', 'pev_revenue', 0, 10);
  const before = await rows();
  const { rows: keys } = await pool.query<{ key: string }>('select distinct listener_key as key from session');
  const erasure = { erasureId: 'ers_1', workspaceId: 'ws_1' };
  await collectListeners(
    pool,
    erasure,
    keys.map(({ key }) => key),
  );
  await eraseListeners(pool, erasure);
  for (const remove of [removeRequests, removePendingFacts, removeFacts]) await remove(pool, 1_000);
  expect(await rows()).toEqual(before);
  expect(before).toHaveLength(3);
});
