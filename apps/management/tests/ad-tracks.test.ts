import { expect, test } from '@jest/globals';
import type { ResourceView } from '@longwave/events';
import { renewLease } from '../src/background/job-table.ts';
import { listTracklessCreatives } from '../src/advertising/creatives/trackless-creative-table.ts';
import { management, read, until } from './_following.ts';
import { hlsTrack, jobOf, media, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

const tracksOf = (row: { readonly attributes: Record<string, unknown> }) => row.attributes['tracks'];
const start = (world: World, creative: ResourceView) =>
  world.send('creative.start_tracks', creative, {}, service('management'));
const record = (world: World, creative: ResourceView, lease: unknown) =>
  world.send(
    'creative.record_tracks',
    creative,
    { tracks: [{ stream: media.sha256, hls: hlsTrack }] },
    service('encoder'),
    lease,
  );

test('streams of an earlier release get tracks by a job behind all others, and stay as they are', async () => {
  const world = createWorld(management);
  const approved = await world.approvedCreative();
  const started = await start(world, approved);
  expect(started).toMatchObject({ lifecycle_state: 'approved', attributes: { tracks: { state: 'encoding' } } });
  expect(await jobOf(management.pool, approved.id)).toMatchObject({
    input: {
      creative_id: approved.id,
      storage_key: expect.any(String),
      source_etag: expect.any(String),
      loudness_targets_lufs: [-24, -22, -20, -18, -16, -14],
      streams: [{ sha256: media.sha256, loudness_lufs: media.loudness_lufs }],
    },
  });
  await expect(start(world, started)).rejects.toMatchObject({ code: 'state_not_allowed' });
  const ready = await record(world, started, await world.lease('encode_creative_tracks', approved.id));
  expect(ready.attributes).toEqual({ ...approved.attributes, media: [{ ...media, hls: hlsTrack }] });
  await expect(start(world, ready)).rejects.toMatchObject({ code: 'state_not_allowed' });
});

test('a creative that is rejected or archived ends the job of its tracks', async () => {
  const world = createWorld(management);
  for (const end of [
    (creative: ResourceView) => world.send('creative.reject', creative, { cause: 'It is over.' }),
    (creative: ResourceView) => world.send('creative.archive', creative, {}),
  ]) {
    const { creative, lease } = await world.adTracksEncoding();
    const ended = await end(creative);
    expect(await renewLease(management.pool, lease.job_id, lease.lease_id, 1000)).toEqual({ held: false, stop: true });
    await expect(record(world, ended, lease)).rejects.toMatchObject({ code: 'state_not_allowed' });
  }
});

test('a creative whose file is not stored any more gets the reason in words, and no job', async () => {
  const world = createWorld(management);
  const approved = await world.approvedCreative();
  const { input } = (await jobOf(management.pool, approved.id))!;
  await management.store.remove(String((input as { storage_key: string }).storage_key));
  expect(tracksOf(await start(world, approved))).toEqual({
    state: 'failed',
    problem: { code: 'upload_not_received', detail: expect.stringContaining('not stored any more') },
  });
});

test('the first switch of a podcast to HLS starts the tracks of every creative of the workspace that lacks them', async () => {
  const world = createWorld(management);
  const { creative: ready, lease } = await world.adTracksEncoding();
  await record(world, ready, lease);
  const failing = await world.adTracksEncoding();
  const problem = { code: 'encoder_failed', detail: 'The disk is full.' };
  await world.send('creative.fail_tracks', failing.creative, { problem }, service('encoder'), failing.lease);
  const prepared = await world.preparedCreative();
  const draft = await world.creative();
  const lacking = [prepared.id, failing.creative.id].toSorted().toReversed();
  const list = (before: string | undefined, limit: number) =>
    listTracklessCreatives(management.pool, world.workspaceId, before, limit);
  expect(await list(undefined, 10)).toEqual(lacking);
  expect(await list(undefined, 1)).toEqual(lacking.slice(0, 1));
  expect(await list(lacking[0], 1)).toEqual(lacking.slice(1));

  await world.send('podcast.create', null, { title: 'By MP3', language: 'en' });
  await world.send('podcast.create', null, { title: 'By HLS', language: 'en', hls_audio: true });
  for (const id of lacking)
    await until(id, (row) => (tracksOf(row) as { state?: string } | undefined)?.state === 'encoding');
  expect(await list(undefined, 10)).toEqual([]);
  for (const { id } of [ready, draft]) expect(tracksOf(await read(id))).toBeUndefined();
});
