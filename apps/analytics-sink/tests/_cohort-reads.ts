/**
 * A program: lets a ledger grow, and measures at each size what the pacer reads each minute: the cohorts that changed. Prints the times as JSON
 * (`npm run bench -- "reads of cohorts" --servings=1,10,30`, in millions).
 */
import { startTestDatabase } from '@longwave/fleet';
import { createPool } from '@longwave/postgres';
import { listCohorts } from '../src/ads/cohort-table.ts';

const million = 1_000_000;
const sizes = (process.argv[2] ?? '1,10').split(',').map(Number);
/** Line items of each million servings; those of the first million deliver, all others have ended. */
const lineItems = 400;
/** Servings of one line item in a quarter hour. */
const servingsPerCohort = 10;
const rounds = 25;

await using database = await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' });
const pool = createPool(database.url, 'audience', { name: 'bench', max: 2, statementTimeoutMs: 900_000 });

/** A million servings with their cohorts, as the sink stores them. */
async function addMillion(nth: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`set longwave.enters_stages = 'on'; set synchronous_commit = off`);
    await client.query(
      `insert into ad_serving (serving_id, decided_at, line_item_id, workspace_id, surface_class, reached)
       select 'srv_' || lpad((i + $1::bigint * ${million})::text, 26, '0'), at, 'li_' || ($1::int * ${lineItems} + i % ${lineItems}), 'ws_1', 'download', 7
       from generate_series(1, ${million}) i,
         lateral (select now() - interval '15 minutes' * (i / ${lineItems} / ${servingsPerCohort}) - interval '7 days' * $1::int) as decided (at)`,
      [nth],
    );
    await client.query(
      `insert into serving_cohort (workspace_id, line_item_id, surface_class, quarter, decided, served, delivered, held, client_started,
         client_completed, changed_at)
       select 'ws_1', 'li_' || ($1::int * ${lineItems} + line), 'download',
         date_bin('15 minutes', now(), 'epoch'::timestamptz) - interval '15 minutes' * quarter - interval '7 days' * $1::int,
         ${servingsPerCohort}, ${servingsPerCohort}, ${servingsPerCohort}, 0, 0, 0, now() - interval '1 hour' - interval '7 days' * $1::int
       from generate_series(0, ${lineItems - 1}) line, generate_series(0, ${million / lineItems / servingsPerCohort - 1}) quarter`,
      [nth],
    );
  } finally {
    client.release(true);
  }
}

const ids = Array.from({ length: lineItems }, (_, at) => `li_${at}`);

/** Facts of a minute: each line item that delivers has more in its latest cohort. */
async function countMore(): Promise<void> {
  await pool.query(
    `update serving_cohort c set decided = decided + 1, changed_at = now()
     from (select line_item_id, max(quarter) as quarter from serving_cohort where line_item_id = any($1) group by 1) l
     where (c.line_item_id, c.quarter) = (l.line_item_id, l.quarter)`,
    [ids],
  );
}

async function readTimes(): Promise<{ readonly changed: number[]; readonly all: number[] }> {
  const [changed, all] = [[], []] as [number[], number[]];
  const timeOf = async (into: number[], lines: readonly string[], since: Date | undefined, atLeast: number) => {
    const began = performance.now();
    const { cohorts } = await listCohorts(pool, lines, since, 30);
    into.push(performance.now() - began);
    if (cohorts.length < atLeast) throw new Error(`only ${cohorts.length} cohorts were read`);
  };
  for (let round = 0; round < rounds; round++) {
    const { rows } = await pool.query<{ now: Date }>(`select now()`);
    await countMore();
    await timeOf(changed, ids, rows[0]!.now, lineItems);
    await timeOf(all, ids.slice(0, 50), undefined, 50 * 100);
  }
  return { changed, all };
}

const results = [];
let millions = 0;
for (const size of sizes) {
  const began = performance.now();
  for (; millions < size; millions++) await addMillion(millions);
  await database.vacuum();
  const { rows } = await pool.query<{ servings: number; bytes: number }>(
    `select (select count(*) from ad_serving)::float8 as servings, pg_database_size(current_database())::float8 as bytes`,
  );
  results.push({ ...rows[0]!, madeInMs: performance.now() - began, ...(await readTimes()) });
}
await pool.end();
console.log(JSON.stringify(results));
