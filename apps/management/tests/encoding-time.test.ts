import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { claimJob, renewLease } from '../src/jobs/job-table.ts';
import { readEncodingTime, saveEncodingLimit } from '../src/productions/encoding-balance-table.ts';
import { createWorld, service, startTestManagement, type TestManagement } from './_support.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

const settled = (answers: readonly PromiseSettledResult<unknown>[]) =>
  answers.map((answer) =>
    answer.status === 'fulfilled'
      ? 'ok'
      : answer.reason instanceof Problem
        ? `${answer.reason.status} ${answer.reason.message}`
        : String(answer.reason),
  );

const balance = async (workspaceId: string) =>
  (
    await management.pool.query(
      'select reserved_ms::int as reserved, used_ms::int as used from encoding_balance where workspace_id = $1',
      [workspaceId],
    )
  ).rows[0];

test('twenty keyless starts at once give one encoding and one reservation', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(3600_000);
  const production = await world.production();
  const answers = settled(
    await Promise.allSettled(
      Array.from({ length: 20 }, () => world.send('production.start', { ...production, version: 1 }, {})),
    ),
  );
  expect(answers.filter((answer) => answer === 'ok')).toHaveLength(1);
  const jobs = await management.pool.query('select count(*)::int as n from job where subject_id = $1', [production.id]);
  expect(jobs.rows[0].n).toBe(1);
  expect(await balance(world.workspaceId)).toEqual({ reserved: 60_000, used: 0 });
});

test('of two starts that together exceed the encoding time one is refused with 402', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(100_000);
  const productions = [await world.production(), await world.production()];
  const answers = settled(
    await Promise.allSettled(productions.map((production) => world.send('production.start', production, {}))),
  );
  expect(answers.sort()).toEqual(['402 Not enough encoding time left', 'ok']);
  expect(await balance(world.workspaceId)).toEqual({ reserved: 60_000, used: 0 });
});

test('a file that no one can measure is refused with 402 when nothing is left, and reserves by its size what is left', async () => {
  const world = createWorld(management);
  const start = async (bytes = 3) => {
    const file_url = (await world.upload('one.mp3', Buffer.alloc(bytes))).attributes['file_url'];
    const episode_id = (await world.episode()).id;
    return world.send('production.start', await world.send('production.create', null, { episode_id, file_url }), {});
  };
  management.probeMs = 0;
  try {
    await world.setEncodingLimit(300_000);
    await start();
    expect(await balance(world.workspaceId)).toEqual({ reserved: 60_000, used: 0 });
    // 64 kbit/s are 8 bytes in a millisecond.
    await start(8 * 100_000);
    expect(await balance(world.workspaceId)).toEqual({ reserved: 160_000, used: 0 });
    await start(8 * 1_000_000);
    expect(await balance(world.workspaceId)).toEqual({ reserved: 300_000, used: 0 });
    await expect(start()).rejects.toMatchObject({ code: 'encoding_time_exhausted', status: 402 });
    expect(await balance(world.workspaceId)).toEqual({ reserved: 300_000, used: 0 });
  } finally {
    management.probeMs = 60_000;
  }
});

test('a finished encoding settles the reservation to what was used; a failed one returns it', async () => {
  const world = createWorld(management);
  const done = await world.encoding();
  await world.send(
    'production.complete',
    done.production,
    { ...world.completion, audio_duration_ms: 59_000 },
    service('encoder'),
    done.lease,
  );
  expect(await balance(world.workspaceId)).toEqual({ reserved: 0, used: 59_000 });
  const failed = await world.encoding();
  expect(await balance(world.workspaceId)).toEqual({ reserved: 60_000, used: 59_000 });
  const problem = { code: 'media_truncated', detail: 'The file ends after 3 s of 60 s.' };
  const after = await world.send('production.fail', failed.production, { problem }, service('encoder'), failed.lease);
  expect(after).toMatchObject({ lifecycle_state: 'error', attributes: { problem } });
  expect(await balance(world.workspaceId)).toEqual({ reserved: 0, used: 59_000 });
});

test('the operation of a start ends when the encoder reports, with the problem when it failed', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.encoding();
  const problem = { code: 'media_empty', detail: 'The file is empty.' };
  await world.send('production.fail', production, { problem }, service('encoder'), lease);
  const { rows } = await management.pool.query(
    "select state, problem from operation where subject_id = $1 and command_type = 'production.start'",
    [production.id],
  );
  expect(rows).toEqual([{ state: 'failed', problem }]);
});

test('a report under a lost lease is refused and changes nothing; the successor reports', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.encoding();
  await management.pool.query("update job set lease_until = now() - interval '1 second' where id = $1", [lease.job_id]);
  const successor = await claimJob(management.pool, ['encode_production'], 'other', 30_000);
  expect(successor).toMatchObject({ id: lease.job_id, attempt: 2 });
  await expect(
    world.send('production.complete', production, world.completion, service('encoder'), lease),
  ).rejects.toMatchObject({ code: 'lease_lost' });
  expect(await renewLease(management.pool, lease.job_id, lease.lease_id, 30_000)).toEqual({ held: false, stop: true });
  const reason = { job_id: successor!.id, lease_id: successor!.lease_id };
  const done = await world.send('production.complete', production, world.completion, service('encoder'), reason);
  expect(done).toMatchObject({ lifecycle_state: 'encoded', version: 3 });
});

test('two workers never hold one job, and the workspace with fewer running jobs comes first', async () => {
  const busy = createWorld(management);
  const idle = createWorld(management);
  for (const world of [busy, idle]) await world.setEncodingLimit(null);
  for (let i = 0; i < 3; i++) await busy.send('production.start', await busy.production(), {});
  await idle.send('production.start', await idle.production(), {});
  const claimed = await Promise.all(
    Array.from({ length: 2 }, () => claimJob(management.pool, ['encode_production'], newId('req'), 30_000)),
  );
  expect(new Set(claimed.map((job) => job?.id)).size).toBe(2);
  const third = await claimJob(management.pool, ['encode_production'], 'w', 30_000);
  expect([...claimed, third].map((job) => job?.workspace_id)).toContain(idle.workspaceId);
});

test('an account with one job is served next beside an account with twenty', async () => {
  const [many, one] = [createWorld(management), createWorld(management)];
  await management.pool.query("update job set state = 'done' where state in ('queued', 'running')");
  for (const world of [many, one]) await world.setEncodingLimit(null);
  for (let i = 0; i < 20; i++) await many.send('production.start', await many.production(), {});
  await one.send('production.start', await one.production(), {});
  const claim = async () => (await claimJob(management.pool, ['encode_production'], 'worker', 30_000))?.workspace_id;
  expect([await claim(), await claim(), await claim()]).toEqual([many.workspaceId, one.workspaceId, many.workspaceId]);
});

test('the encoding time of a month is readable: limit, reserved and used', async () => {
  const world = createWorld(management);
  const now = new Date('2026-11-30T23:59:59Z');
  const read = (at = now) => readEncodingTime(management.pool, world.workspaceId, at);
  expect(await read()).toEqual({ month: '2026-11', limitMs: undefined, reservedMs: 0, usedMs: 0 });
  await world.setEncodingLimit(3600_000);
  expect(await read()).toMatchObject({ limitMs: 3600_000, reservedMs: 0, usedMs: 0 });
  await world.send('production.start', await world.production(), {});
  expect(await read(new Date())).toMatchObject({ limitMs: 3600_000, reservedMs: 60_000, usedMs: 0 });
  expect(await read(new Date('2027-02-01'))).toEqual({ month: '2027-02', limitMs: 3600_000, reservedMs: 0, usedMs: 0 });
  await saveEncodingLimit(management.pool, world.workspaceId, null, 2_100_000_000);
  expect(await read()).toMatchObject({ limitMs: null });
});

test('a file of another account, or one that was never sent, is refused before anything is stored', async () => {
  const world = createWorld(management);
  const stranger = createWorld(management);
  const episode = await world.episode();
  const granted = await world.send('upload.grant', null, { filename: 'never-sent.mp3' });
  for (const upload of [await stranger.upload(), granted])
    await expect(
      world.send('production.create', null, { episode_id: episode.id, file_url: upload.attributes['file_url'] }),
    ).rejects.toMatchObject({ code: 'upload_not_received', status: 422 });
});

test('a link to a resource of another workspace is refused by name', async () => {
  const world = createWorld(management);
  const foreign = await createWorld(management).podcast();
  await expect(world.send('episode.create', null, { podcast_id: foreign.id, title: 'One' })).rejects.toMatchObject({
    code: 'link_not_found',
    context: { errors: [{ path: '/changes/podcast_id' }] },
  });
});

test('a subdomain is taken once in the whole service', async () => {
  const subdomain = `show-${Date.now()}`;
  const answers = settled(
    await Promise.allSettled(
      [1, 2].map(() => createWorld(management).send('podcast.create', null, { title: 'A', language: 'en', subdomain })),
    ),
  );
  expect(answers.sort()).toEqual(['422 This subdomain is already taken.', 'ok']);
});
