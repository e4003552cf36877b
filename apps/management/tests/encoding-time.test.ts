import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { claimJob, renewLease } from '../src/background/job-table.ts';
import { createFindQueuePlace } from '../src/background/queue-forecast.ts';
import { readEncodingTime, saveEncodingLimit } from '../src/hosting/productions/encoding-balance-table.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { balanceOf, service } from './_values.ts';
import { createWorld } from './_world.ts';

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
  expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 60_000, used: 0 });
});

test('of two starts that together exceed the encoding time one is refused with 402', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(100_000);
  const productions = [await world.production(), await world.production()];
  const answers = settled(
    await Promise.allSettled(productions.map((production) => world.send('production.start', production, {}))),
  );
  expect(answers.sort()).toEqual(['402 Not enough encoding time left', 'ok']);
  expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 60_000, used: 0 });
});

test('a refused start says how much encoding time it needs', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(59_999);
  await expect(world.send('production.start', await world.production(), {})).rejects.toMatchObject({
    code: 'encoding_time_exhausted',
    context: { neededMs: 60_000 },
  });
});

test('a file that no one can measure is refused with 402 when nothing is left, and reserves by its size at most what is left', async () => {
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
    expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 60_000, used: 0 });
    // 64 kbit/s are 8 bytes in a millisecond.
    await start(8 * 100_000);
    expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 160_000, used: 0 });
    await start(8 * 1_000_000);
    expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 300_000, used: 0 });
    await expect(start()).rejects.toMatchObject({ code: 'encoding_time_exhausted', status: 402 });
    expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 300_000, used: 0 });
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
  expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 0, used: 59_000 });
  const failed = await world.encoding();
  expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 60_000, used: 59_000 });
  const problem = { code: 'media_truncated', detail: 'The file ends after 3 s of 60 s.' };
  const after = await world.send('production.fail', failed.production, { problem }, service('encoder'), failed.lease);
  expect(after).toMatchObject({ lifecycle_state: 'error', attributes: { problem } });
  expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 0, used: 59_000 });
});

test('warnings of the encoder stay with the production until it gets another file', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.encoding();
  const warnings = [{ code: 'media_cut_off', detail: 'The file ends in the middle of a frame.' }];
  const changes = { ...world.completion, warnings };
  const encoded = await world.send('production.complete', production, changes, service('encoder'), lease);
  expect(encoded.attributes).toMatchObject({ warnings });
  const file_url = (await world.upload()).attributes['file_url'];
  expect((await world.send('production.revise', encoded, { file_url })).attributes).not.toHaveProperty('warnings');
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

test('two workers never hold one job, and the workspace that was served less comes first', async () => {
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

/** Deletes all jobs, and with them the served slot time. */
const emptyQueue = () => management.pool.query('delete from job');

test('a new episode waits neither for an import, nor for a batch, nor for new audio of another episode', async () => {
  await emptyQueue();
  const [moving, one] = [createWorld(management), createWorld(management)];
  for (const world of [moving, one]) await world.setEncodingLimit(null);
  const derive = async (more: object) => {
    const file_url = (await moving.upload()).attributes['file_url'];
    const changes = { episode_id: (await moving.episode()).id, file_url, ...more };
    const derived = await moving.send('production.derive', null, changes, service('management'));
    return moving.send('production.start', derived, {}, service('management'));
  };
  for (let i = 0; i < 20; i++) await derive(i % 2 ? { imported: true } : { batch_encoding_id: newId('bat') });
  const again = await one.playableEpisode();
  const file_url = (await one.upload()).attributes['file_url'];
  const replacement = await one.send('production.create', null, { episode_id: again.id, file_url });
  await one.send('production.start', replacement, {});
  const first = await one.send('production.start', await one.production(), {});
  const claim = async () => (await claimJob(management.pool, ['encode_production'], 'worker', 30_000))!.subject_id;
  expect(await claim()).toBe(first.id);
  expect(await claim()).toBe(replacement.id);
});

test('a slot for short work takes an ad while a long episode waits before it', async () => {
  await emptyQueue();
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  management.probeMs = 3 * 3_600_000;
  const long = await world.send('production.start', await world.production(), {});
  management.probeMs = 60_000;
  const claim = async (maxExpectedMs?: number) =>
    (await claimJob(management.pool, ['encode_production', 'encode_creative'], 'worker', 30_000, maxExpectedMs))
      ?.subject_id;
  expect(await claim(20_000)).toBeUndefined();
  const creative = await world.send('creative.attach_media', await world.creative(), {
    upload_ref: (await world.upload('ad.mp3', Buffer.alloc(192_000))).id,
  });
  expect(await claim(20_000)).toBe(creative.id);
  expect(await claim()).toBe(long.id);
});

test('the forecast tells the place and begin of a waiting production, and the end of a running one', async () => {
  await emptyQueue();
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const started = [];
  for (let i = 0; i < 3; i++) started.push(await world.send('production.start', await world.production(), {}));
  const [running, next, last] = started;
  await claimJob(management.pool, ['encode_production'], 'worker', 30_000);
  const placeOf = createFindQueuePlace(management.pool);
  // A minute of sound: two seconds, and 1.5 for the sound.
  const one = (await placeOf(running!.id))!;
  expect(one).toMatchObject({ position: 0, startsInMs: 0 });
  expect(one.endsInMs).toBeLessThanOrEqual(3_500);
  expect(await placeOf(next!.id)).toEqual({ position: 1, startsInMs: one.endsInMs, endsInMs: one.endsInMs + 3_500 });
  expect(await placeOf(last!.id)).toMatchObject({ position: 2, startsInMs: one.endsInMs + 3_500 });
  expect(await placeOf(newId('pro'))).toBeUndefined();
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

test('a file that did not arrive as it was granted is refused: another size, another type, or no audio', async () => {
  const world = createWorld(management);
  const episode_id = (await world.episode()).id;
  const granted = async (filename: string, filesize: number | undefined, bytes: number, contentType: string) => {
    const upload = await world.send('upload.grant', null, { filename, ...(filesize !== undefined && { filesize }) });
    await management.store.put(String(upload.attributes['storage_key']), Buffer.alloc(bytes), { contentType });
    const file_url = upload.attributes['file_url'];
    return world.send('production.create', null, { episode_id, file_url });
  };
  const refused = (detail: string) => ({
    ...{ code: 'upload_not_received', status: 422, message: detail },
    context: { errors: [{ path: '/changes/file_url', detail }] },
  });
  await expect(granted('a.mp3', 5_000, 48_658, 'audio/mpeg')).rejects.toMatchObject(
    refused(
      'a.mp3 was announced with 5,000 bytes, but 48,658 arrived. Upload the whole file again, or ask for another upload with the right size.',
    ),
  );
  await expect(granted('a.mp3', 300, 300, 'text/html; charset=utf-8')).rejects.toMatchObject(
    refused('a.mp3 was granted as audio/mpeg, but sent as text/html. Send it with the granted content type.'),
  );
  await expect(granted('cover.png', 300, 300, 'image/png')).rejects.toMatchObject(
    refused('cover.png is image/png. Name a file with audio or video.'),
  );
  expect(await granted('a.mp3', 300, 300, 'application/octet-stream')).toMatchObject({ lifecycle_state: 'initial' });
  expect(await granted('a.mp3', undefined, 300, 'audio/mp3')).toMatchObject({ lifecycle_state: 'initial' });
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
