import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createPool, type Pool } from '@longwave/postgres';
import { createRecentProjection, type RecentProjection } from '../src/projection/recent-projection.ts';
import { apply, next } from './_apply.ts';
import { audio, eventOf, makeShow, openBench, workspaceId, type Bench, type Show } from './_support.ts';

let bench: Bench;
let show: Show;
let statements: number;
let projection: RecentProjection;
const at = new Date('2026-11-21T10:00:00Z');
const later = new Date('2026-11-21T10:00:01Z');

/** The real database, with its statements counted. */
const counted = (pool: Pool): Pool =>
  new Proxy(pool, {
    get: (target, name) => {
      if (name === 'query') statements++;
      return Reflect.get(target, name, target) as unknown;
    },
  });
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const before = statements;
  await work();
  return statements - before;
}
const chapters = async (when = at) => (await projection.getComposition(show.episodeId, when)).chapters.length;

beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  show = await makeShow(bench.store, audio(50));
  await apply(bench, ...Object.values(show.events));
  statements = 0;
  projection = createRecentProjection(counted(bench.pool));
});

test('a hundred plays at once read alias, halts and composition once, and the ad context by three statements', async () => {
  const place = { workspaceId, podcastId: show.podcastId, episodeId: show.episodeId };
  const asked: [() => Promise<unknown>, number][] = [
    [() => projection.findAudioByAlias('t1.none', at), 1],
    [() => projection.listHalts(workspaceId, at), 1],
    [() => projection.getAdContext(place, at), 3],
    [() => projection.getComposition(show.episodeId, at), 1],
  ];
  for (const [ask, expected] of asked) {
    expect(await statementsOf(() => Promise.all(Array.from({ length: 100 }, ask)))).toBe(expected);
    expect(await statementsOf(ask)).toBe(0);
  }
});

test('an event of another process is seen a second later, one of this process at once', async () => {
  expect(await chapters()).toBe(0);
  const changed = next(show.events.episode, { chapters: [{ start_ms: 0, title: 'One' }] });
  await apply(bench, changed);
  expect([await chapters(), await chapters(later)]).toEqual([0, 1]);
  await apply(bench, next(changed, { chapters: [] }));
  expect(await chapters(later)).toBe(1);
  projection.forget();
  expect(await chapters(later)).toBe(0);
});

test('a read that began before an event is not kept', async () => {
  const halt = eventOf('serving_halts', 'hlt_1', 1, 'active', { scope: { kind: 'creative', creative_id: 'crv_1' } });
  const blocker = await bench.pool.connect();
  await blocker.query('begin; lock table serving_halt');
  const slow = projection.listHalts(workspaceId, at);
  await blocker.query('commit');
  blocker.release();
  projection.forget();
  await apply(bench, halt);
  await slow;
  expect(await projection.listHalts(workspaceId, at)).toHaveLength(1);
});

test('a read that failed is tried again at once', async () => {
  const away = createPool('postgres://nobody@127.0.0.1:1/none', 'delivery', { name: 'test' });
  let pool: Pool = away;
  projection = createRecentProjection(new Proxy(away, { get: (_, name) => Reflect.get(pool, name, pool) as unknown }));
  await expect(chapters()).rejects.toThrow('ECONNREFUSED');
  pool = bench.pool;
  expect(await chapters()).toBe(0);
  await away.end();
});
