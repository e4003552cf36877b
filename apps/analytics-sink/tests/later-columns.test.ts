import { beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { transaction, type Pool } from '@longwave/postgres';
import { fact, lists, randomFacts, seen, withServing } from '@longwave/test-kit/delivery-facts';
import { recordDecisions } from '../src/ads/ad-ledger.ts';
import { insertWaitingRows } from '../src/batches/batch-table.ts';
import { createNoteLayouts } from '../src/batches/known-layout-table.ts';
import { importEvidence } from '../src/evidence/evidence-table.ts';
import { importRequest } from '../src/evidence/evidence-requests.ts';
import { keepClaims, type Claim } from '../src/batches/platform-reported-table.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { recounted, stored } from './_counts.ts';
import { reportOf, rowOf } from './_evidence.ts';
import { useTables } from './_tables.ts';

let pool: Pool;
let admin: Pool;

useTables((tables) => ({ pool, admin } = tables));

const tables = async () =>
  (
    await admin.query<{ name: string }>(
      `select quote_ident(relname) as name from pg_class
       where relnamespace = 'audience'::regnamespace and relkind in ('r', 'p') and not relispartition and relname not like '\\_%'
       order by 1`,
    )
  ).rows.map(({ name }) => name);

beforeAll(async () => {
  for (const name of await tables())
    await admin.query(`alter table ${name} add column added_later text not null default 'kept'`);
});

/** The tables that have rows, each with the values of the column that was added. */
async function addedLater(): Promise<Record<string, string[]>> {
  const values: Record<string, string[]> = {};
  for (const name of await tables()) {
    const { rows } = await pool.query<{ added_later: string }>(`select distinct added_later from ${name}`);
    if (rows.length > 0) values[name] = rows.map((row) => row.added_later);
  }
  return values;
}

test('a column that a newer migration adds with a default keeps its default in every row that this release writes', async () => {
  const facts = [...randomFacts(1), withServing('srv_9', { fact_id: 'fct_ad' }), seen()];
  const waiting = fact({ fact_id: 'fct_waits', user_agent_digest: 'f'.repeat(64) });
  const memory = createCountingMemory();
  // A second time over the same listeners, so that rows are written over rows.
  for (const half of [facts.slice(0, 60), facts, [waiting]]) await recordFacts(pool, half, lists, memory);
  await createNoteLayouts(pool)(facts);
  await recordDecisions(
    pool,
    [
      {
        decision_id: newId('dec'),
        workspace_id: 'ws_1',
        podcast_id: 'pod_1',
        episode_id: 'ep_1',
        decided_at: '2025-11-02T09:59:59.000Z',
        country: 'DE',
        slots: [{ ...fact({ fact_id: 'any' }).parts[1]!.ad!, serving_id: 'srv_9' }],
      },
    ],
    lists.listsVersion,
  );
  const claim: Claim = {
    kind: 'download_qualified',
    claim: 'claim-1',
    at: '2025-11-02T10:00:00Z',
    workspace: 'ws_1',
    podcast: 'pod_1',
    episode: 'ep_1',
    country: 'DE',
    quantity: 1,
  };
  await transaction(pool, async (tx) => {
    await insertWaitingRows(tx, { producer: 'acme', batchId: 'batch-1', rows: [] }, [
      { index: 0, row: claim, awaits: 'arr_1' },
    ]);
    expect(await keepClaims(tx, 'acme', [claim])).toEqual([true]);
    // The repetition of a claim is compared by what the release knows.
    expect(await keepClaims(tx, 'acme', [claim])).toEqual([true]);
  });
  const { report, rows } = importRequest.parse({ report: reportOf('pev_1'), firstRow: 0, rows: [rowOf('one', 1n)] });
  await importEvidence(pool, report, 0, rows);
  expect((await stored(pool)).downloads).toEqual(recounted(facts).downloads);
  const written = [
    ...[
      'ad_delivered',
      'ad_entry',
      'ad_hour',
      'ad_serving',
      'download_audience_hour',
      'download_change',
      'download_hour',
    ],
    ...[
      'evidence_report',
      'evidence_row',
      'fact',
      'known_layout',
      'layout',
      'listener_episode',
      'pending_fact',
      'platform_reported',
    ],
    ...['rolling_download', 'served_request', 'session', 'user_agent', 'velocity_day', 'waiting_row'],
  ];
  expect(await addedLater()).toMatchObject(Object.fromEntries(written.map((name) => [name, ['kept']])));
});
