import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { claimJob, renewLease } from '../src/background/job-table.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { costOf, recordStatements } from '@longwave/test-kit/statements';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());
beforeEach(() => management.pool.query('delete from job'));

const kinds = ['map_content', 'encode_production', 'run_report'];

interface Jobs {
  readonly workspaceId?: string;
  readonly expectedMs?: number;
  /** Seconds since their leases have ended; without it they are queued. */
  readonly endedFor?: number;
}

/** Queues jobs of one kind of a workspace; each is one millisecond younger than the one before. */
async function queue(times: number, { workspaceId = newId('ws'), expectedMs = 30_000, endedFor }: Jobs = {}) {
  await management.pool.query(
    `insert into job (id, kind, workspace_id, subject_type, subject_id, subject_version, state, input, created_at, work_class, expected_ms, lease_until)
     select 'job_' || $1::text || n, 'map_content', $1, 'content_snapshots', 'csn_' || $1::text || n, 1,
       case when $4::int is null then 'queued' else 'running' end, '{}', now() + n * interval '1 ms', 'interactive', $3,
       now() - $4::int * interval '1 s' from generate_series(1, $2::int) as n`,
    [workspaceId, times, expectedMs, endedFor ?? null],
  );
  return workspaceId;
}

const claim = (maxExpectedMs?: number) => claimJob(management.pool, kinds, 'worker', 30_000, maxExpectedMs);

/** Rows and blocks of all statements of some work that read jobs; those that write are run once more by it. */
async function costOfClaim() {
  const sum = { rows: 0, blocks: 0 };
  const statements = await recordStatements(management.pool, () => claim());
  for (const statement of statements.filter(({ text }) => /\bjob\b/.test(text))) {
    const { rows, blocks } = await costOf(management.pool, statement);
    sum.rows += rows;
    sum.blocks += blocks;
  }
  return sum;
}

test.each([
  ['queued jobs', {}],
  ['jobs whose leases have ended', { endedFor: 60 }],
])('a claim costs the same with 20,000 %s of one workspace as with 100', async (_, jobs) => {
  await queue(100, jobs);
  await claim();
  const early = await costOfClaim();
  await management.pool.query('delete from job');
  await queue(20_000, jobs);
  await claim();
  const late = await costOfClaim();
  expect(late.rows).toBeLessThanOrEqual(early.rows + 10);
  expect(late.blocks).toBeLessThanOrEqual(2 * early.blocks + 50);
});

test('among jobs whose leases have ended and queued ones of a workspace the shortest is claimed first, then the oldest', async () => {
  const workspaceId = newId('ws');
  await queue(1, { workspaceId, expectedMs: 20_000 });
  await management.pool.query(`update job set id = 'queued'`);
  await queue(2, { workspaceId, expectedMs: 10_000, endedFor: 60 });
  await management.pool.query(`update job set id = 'ended' where expected_ms = 10000 and id like '%1'`);
  const ids = [await claim(), await claim(), await claim(), await claim()].map((job) => job?.id);
  expect(ids).toEqual(['ended', `job_${workspaceId}2`, 'queued', undefined]);
});

test('a workspace with one job is served beside one with 20,000, also for a slot for short work', async () => {
  const [many, one] = [await queue(20_000), await queue(1, { expectedMs: 40_000 })];
  expect([await claim(), await claim()].map((job) => job?.workspace_id).toSorted()).toEqual([many, one].toSorted());
  const short = await queue(1, { expectedMs: 5_000 });
  expect((await claim(10_000))?.workspace_id).toBe(short);
  expect(await claim(10_000)).toBeUndefined();
});

test('a worker whose lease has ended keeps its job until another one claims it', async () => {
  await queue(1);
  const { id, lease_id: leaseId } = (await claimJob(management.pool, kinds, 'slow', 0))!;
  // Looks for a shorter job.
  expect(await claim(1)).toBeUndefined();
  expect(await renewLease(management.pool, id, leaseId, 30_000)).toEqual({ held: true, stop: false });
  expect(await claim()).toBeUndefined();
});
