import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { createCleanBindingSweep } from '../src/plays/binding-table.ts';
import { removeHlsPlays } from '../src/plays/hls-play-table.ts';
import { openBench, type Bench } from './_support.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.stop());

const hourMs = 3_600_000;
const start = Date.parse('2026-11-20T00:00:00Z');
const at = (hours: number) => new Date(start + hours * hourMs);

/** One binding without ads for each hour of [from, to), that of a play by HLS if `hls`. */
async function bindHours(from: number, to: number, hls: boolean): Promise<void> {
  const values = [Array.from({ length: to - from }, () => newId('lst')), at(from)];
  const hour = `$2::timestamptz + (place - 1) * interval '1 hour'`;
  const given = 'unnest($1::text[]) with ordinality as given (key, place)';
  await bench.pool.query(
    `insert into binding (listener_key, episode_id, sequence, decision_id, arrangement_id, ads, started_at)
     select key, 'ep_1', 0, key, 'arr_1', '{}', ${hour} from ${given}`,
    values,
  );
  if (hls)
    await bench.pool.query(
      `insert into hls_play (listener_key, episode_id, sequence, play_id, presentation, schedule, opened_at, address_key, published_at)
       select key, 'ep_1', 0, key, 'p', '[]', ${hour}, '', $2::timestamptz from ${given}`,
      values,
    );
}

const bindAgain = (listener: string, hour: number) =>
  bench.pool.query(
    `insert into binding (listener_key, episode_id, sequence, decision_id, arrangement_id, ads, started_at)
     values ($1, 'ep_1', 1, $2, 'arr_1', '{}', $3)`,
    [listener, newId('dec'), at(hour)],
  );
const playAgain = (listener: string, hour: number) =>
  bench.pool.query(
    `insert into hls_play (listener_key, episode_id, sequence, play_id, presentation, schedule, opened_at, address_key, published_at)
     values ($1, 'ep_1', 1, $2, 'p', '[]', $3, '', $3)`,
    [listener, newId('ply'), at(hour)],
  );

/** Hours at which bindings that are there began. */
async function hoursOfBindings(): Promise<readonly number[]> {
  const { rows } = await bench.pool.query<{ started_at: Date }>('select started_at from binding order by started_at');
  return rows.map((row) => (row.started_at.getTime() - start) / hourMs);
}
const hours = (from: number, to: number) => Array.from({ length: to - from }, (_, place) => from + place);

interface Plan {
  readonly Alias?: string;
  readonly Plans?: readonly Plan[];
  readonly [name: string]: unknown;
}

/** Rows of bindings that a plan read, whether or not it kept them. */
function readRows(plan: Plan): number {
  const count = (name: string) => Number(plan[name] ?? 0);
  const own = count('Actual Rows') + count('Rows Removed by Filter');
  const isScan = plan['Relation Name'] === 'binding' && String(plan['Node Type']).includes('Scan');
  const below = (plan.Plans ?? []).reduce((sum, each) => sum + readRows(each), 0);
  return (isScan ? own * count('Actual Loops') : 0) + below;
}

/** A pool that notes how many rows of bindings each statement reads when it looks for them. */
function watchedPool() {
  const read: number[] = [];
  const pool = new Proxy(bench.pool, {
    get: (target, name) => {
      if (name !== 'query') return Reflect.get(target, name, target) as unknown;
      return async (asked: { text: string; values: unknown[] }) => {
        const client = await target.connect();
        try {
          await client.query('begin; set local enable_seqscan = off');
          const { rows } = await client.query<{ 'QUERY PLAN': readonly { Plan: Plan }[] }>(
            `explain (analyze, format json) ${asked.text}`,
            asked.values,
          );
          read.push(readRows(rows[0]!['QUERY PLAN'][0]!.Plan));
          await client.query('rollback');
        } finally {
          client.release();
        }
        return target.query(asked);
      };
    },
  });
  return { pool: pool, read };
}

test('the sweep of clean bindings spares those of plays by HLS, and does not read them again', async () => {
  await bindHours(0, 300, true);
  await bindHours(300, 310, false);
  const { pool, read } = watchedPool();
  const remove = createCleanBindingSweep(pool);
  expect([await remove(at(310), 4), await remove(at(310), 4), await remove(at(310), 4)]).toEqual([4, 4, 2]);
  expect(await hoursOfBindings()).toEqual(hours(0, 300));
  await bindHours(310, 312, false);
  expect(await remove(at(312), 4)).toBe(2);
  expect(read[0]).toBeGreaterThan(300);
  expect(Math.max(...read.slice(1))).toBeLessThan(30);
});

test('clean bindings go with the last play by HLS of their listener and episode, but for young ones', async () => {
  await bench.pool.query('delete from hls_play');
  await bench.pool.query('delete from binding');
  await bindHours(0, 10, true);
  const listener = async (hour: number) =>
    (
      await bench.pool.query<{ listener_key: string }>('select listener_key from binding where started_at = $1', [
        at(hour),
      ])
    ).rows[0]!.listener_key;
  const [first, second, third] = [await listener(0), await listener(1), await listener(2)];
  // An MP3 later; a second play by HLS that stays; a download of today.
  await bindAgain(first, 20);
  await bindAgain(second, 21);
  await playAgain(second, 21);
  await bindAgain(third, 90);
  expect(await removeHlsPlays(bench.pool, at(3), at(80), 1_000)).toBe(3);
  expect(await hoursOfBindings()).toEqual([1, ...hours(3, 10), 21, 90]);
  expect(await createCleanBindingSweep(bench.pool)(at(80), 1_000)).toBe(0);
});
