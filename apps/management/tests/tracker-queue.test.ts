import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool, transaction, type Pool } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import { collectEvents, type ListAdEvents } from '../src/advertising/trackers/collect-events.ts';
import { listTrackedWorkspaces } from '../src/advertising/trackers/tracked-subject-table.ts';
import {
  claimCall,
  forgetHosts,
  recordCall,
  type ClaimedCall,
} from '../src/advertising/trackers/tracker-attempt-table.ts';
import { savePage } from '../src/advertising/trackers/tracker-call-table.ts';
import type { NewTrackerCall } from '../src/advertising/trackers/tracker-calls-of.ts';
import { createReadTally } from '../src/advertising/trackers/tracker-tally-table.ts';
import { hour } from './_values.ts';

let database: TestDatabase;
let pool: Pool;
/** As the owner of the tables, which alone may empty them. */
let owner: Pool;
beforeAll(async () => {
  database = await startTestDatabase({ schema: 'product', migrations: 'apps/management/prisma' });
  pool = createPool(database.url, 'product', { name: 'test' });
  owner = createPool(database.adminUrl, 'product', { name: 'test-owner' });
});
afterAll(async () => {
  await Promise.all([pool.end(), owner.end()]);
  await database[Symbol.asyncDispose]();
});
beforeEach(() =>
  owner.query('truncate tracker_call, failing_tracker_host, tracker_cursor, tracker_tally; delete from resource'),
);

const now = new Date('2026-11-26T12:00:00Z');
const later = (ms: number) => new Date(now.getTime() + ms);
/** Workspaces in the order of their ids, as scans meet them. */
const [first, second, third] = [newId('ws'), newId('ws'), newId('ws')].sort() as [string, string, string];

const callTo = (workspaceId: string, host: string, ownerId = 'trk_1'): NewTrackerCall => ({
  ...{ workspaceId, host, ownerId, servingId: newId('srv'), trackerId: `${ownerId} impression`, countedAt: now },
  urlTemplate: `https://${host}/i`,
});
const times = <T>(count: number, of: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => of(at));
const save = (calls: readonly NewTrackerCall[], maxWaiting?: number) =>
  transaction(pool, (tx) => savePage(tx, { until: now, calls }, now, maxWaiting));
/** Claims until nothing is due, at most `most` calls. */
async function claimAll(at = now, most = 48): Promise<ClaimedCall[]> {
  const claimed: ClaimedCall[] = [];
  while (claimed.length < most) {
    const call = await claimCall(pool, at, hour);
    if (!call) break;
    claimed.push(call);
  }
  return claimed;
}
const countBy = (calls: readonly ClaimedCall[], of: 'workspace_id' | 'host') =>
  Object.fromEntries([...Map.groupBy(calls, (call) => call[of])].map(([key, own]) => [key, own.length]));
const away = { problem: 'timeout', status: undefined } as const;
const retried = { state: 'pending', nextAt: later(1000) } as const;

test('a workspace with many hosts has 16 calls under way at most, and those of others are next', async () => {
  await save(times(60, (at) => callTo(first, `slow-${at}.example`)));
  await save([callTo(third, 'good.example'), ...times(20, () => callTo(second, 'vendor.example'))]);
  const claimed = await claimAll();
  expect(countBy(claimed, 'workspace_id')).toEqual({ [first]: 16, [second]: 16, [third]: 1 });
  expect(new Set(claimed.slice(0, 3).map((call) => call.workspace_id)).size).toBe(3);
  // The slot that becomes free is for the workspace that has none.
  await recordCall(pool, claimed[0]!, away, retried, now);
  await save([callTo(third, 'good.example')]);
  expect((await claimCall(pool, now, hour))!.workspace_id).toBe(third);
});

test('of one workspace, the host with the fewest calls under way is next', async () => {
  await save([...times(30, () => callTo(first, 'busy.example')), ...times(3, (at) => callTo(first, `z${at}.example`))]);
  expect(countBy(await claimAll(now, 8), 'host')).toEqual({
    ...{ 'busy.example': 5, 'z0.example': 1, 'z1.example': 1, 'z2.example': 1 },
  });
});

test('a host that fails for one workspace is called as before for the others, and by one call at a time for that one', async () => {
  await save([callTo(first, 'vendor.example')]);
  await recordCall(pool, (await claimCall(pool, now, hour))!, away, { state: 'given_up' }, now);
  await save(times(10, () => callTo(first, 'vendor.example')));
  await save(times(10, () => callTo(second, 'vendor.example')));
  const claimed = await claimAll();
  expect(countBy(claimed, 'workspace_id')).toEqual({ [first]: 1, [second]: 10 });
  // Of the host's 16 slots the other workspace has ten.
  const answered = { problem: undefined, status: 204 };
  const own = claimed.find((call) => call.workspace_id === first)!;
  await recordCall(pool, own, answered, { state: 'delivered' }, now);
  expect(countBy(await claimAll(), 'workspace_id')).toEqual({ [first]: 6 });
});

test('a host gets 16 calls at a time from all workspaces, and the workspaces take turns', async () => {
  for (const workspaceId of [first, second, third]) await save(times(20, () => callTo(workspaceId, 'vendor.example')));
  const claimed = await claimAll();
  expect(claimed).toHaveLength(16);
  expect(Object.values(countBy(claimed, 'workspace_id')).sort()).toEqual([5, 5, 6]);
});

test('a failing host is forgotten a day later, unless a call to it waits', async () => {
  for (const host of ['gone.example', 'awaited.example']) {
    await save([callTo(first, host)]);
    await recordCall(pool, (await claimCall(pool, now, hour))!, away, { state: 'given_up' }, now);
  }
  await save([callTo(first, 'awaited.example'), callTo(second, 'gone.example')]);
  expect(await forgetHosts(pool, now, 100)).toBe(0);
  expect(await forgetHosts(pool, later(1), 100)).toBe(1);
  const { rows } = await pool.query('select host from failing_tracker_host');
  expect(rows).toEqual([{ host: 'awaited.example' }]);
});

test('what a workspace has beyond its waiting calls is given up, counted once, and takes no room of another', async () => {
  const page = [...times(2_500, () => callTo(first, 'a.example', 'trk_a')), callTo(second, 'a.example', 'trk_b')];
  expect(await save(page, 1_200)).toEqual({ queued: 1_201, givenUp: 1_300 });
  expect(await save(page, 1_200)).toEqual({ queued: 0, givenUp: 0 });
  const tallyOf = createReadTally(pool);
  expect(await tallyOf('trk_a')).toEqual({
    ...{ delivered: 0, failed: 0, given_up: 1_300, waiting: 1_200 },
    last_problem: { code: 'too_many_waiting', detail: expect.any(String), at: now.toISOString() },
  });
  expect(await tallyOf('trk_b')).toMatchObject({ given_up: 0, waiting: 1 });
  const { rows } = await pool.query('select from tracker_call where state <> $1 and url_template is not null', [
    'pending',
  ]);
  expect(rows).toEqual([]);
});

test('the largest page of events, 32,000 calls, is saved whole', async () => {
  expect(await save(times(32_000, () => callTo(first, 'a.example')))).toEqual({ queued: 32_000, givenUp: 0 });
});

/** A resource with trackers, or a tracking endpoint, as an earlier command left it. */
const insertTracked = (type: 'creatives' | 'tracking_endpoints', workspaceId: string, state: string, at = now) =>
  pool.query(
    `insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
     values ($1, $2, $3, 1, $4, $5, 'd', 'op_1', $6, $6)`,
    [newId('crv'), workspaceId, type, state, type === 'creatives' ? { trackers: [] } : {}, at],
  );

test('the sink is asked about workspaces with active endpoints, approved creatives with trackers, and such that served in the last 30 days', async () => {
  const [old, recent] = [later(-31 * 24 * hour), later(-29 * 24 * hour)];
  const listed = times(4, () => newId('ws')).sort();
  const others = times(3, () => newId('ws'));
  await insertTracked('tracking_endpoints', listed[0]!, 'active', old);
  await insertTracked('creatives', listed[1]!, 'approved', old);
  await insertTracked('creatives', listed[2]!, 'archived', recent);
  await insertTracked('creatives', listed[2]!, 'archived', old);
  for (const state of ['draft', 'approved']) await insertTracked('creatives', listed[3]!, state);
  await insertTracked('tracking_endpoints', others[0]!, 'disabled');
  await insertTracked('creatives', others[1]!, 'archived', old);
  expect(await listTrackedWorkspaces(pool, now)).toEqual(listed);
});

test('workspaces beyond those of one question are asked about in another, and the cursor waits for the slowest answer', async () => {
  const listed = times(5, () => newId('ws')).sort();
  for (const workspaceId of listed) await insertTracked('tracking_endpoints', workspaceId, 'active');
  const questions: string[][] = [];
  const listAdEvents = (async ({ workspaceIds }: { workspaceIds: string[] }) => {
    questions.push(workspaceIds);
    const isSlow = workspaceIds.includes(listed[3]!);
    return { events: [], untilMs: BigInt(later(isSlow ? 10 : 20).getTime()), isBehind: false };
  }) as unknown as ListAdEvents;
  const ignore = () => undefined;
  await using _collecting = collectEvents({
    ...{ pool, listAdEvents, clock: () => now, everyMs: hour, maxWorkspaces: 2 },
    ...{ onQueued: ignore, onGivenUp: ignore, onError: ignore },
  });
  const cursor = await until(
    async () => (await pool.query<{ until: Date }>('select until from tracker_cursor')).rows[0],
  );
  expect(questions).toEqual([listed.slice(0, 2), listed.slice(2, 4), listed.slice(4)]);
  expect(cursor.until).toEqual(later(10));
});
