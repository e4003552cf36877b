import { expect, test } from '@jest/globals';
import { reactTo } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { renewLease } from '../src/background/job-table.ts';
import { trackReactions } from '../src/hosting/productions/follow-tracks.ts';
import { listMissingTracks } from '../src/hosting/productions/missing-track-table.ts';
import { encode, management, read, until } from './_following.ts';
import { hlsTrack, jobOf, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

const track = 'a192';
const trackIn = (row: { readonly attributes: Record<string, unknown> }) =>
  (row.attributes['tracks'] as { a192?: Record<string, unknown> } | undefined)?.a192;
const start = (world: World, production: ResourceView) =>
  world.send('production.start_track', production, { track }, service('management'));
const record = (world: World, production: ResourceView, lease: unknown, sha256 = hlsTrack.sha256) =>
  world.send(
    'production.record_track',
    production,
    { track, file: { ...hlsTrack, sha256 } },
    service('encoder'),
    lease,
  );
const jobsOf = async (id: string) =>
  (await management.pool.query('select state from job where subject_id = $1 and kind = $2', [id, 'encode_hls_audio']))
    .rows;
const currentOf = (episode: ResourceView) => String(episode.attributes['current_production_id']);

test('a track is made by a job of its own, behind new episodes, and the MP3 stays as it is', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.encoding();
  const gain = { gain_db: 4, ceiling_db: -2.2 };
  const encoded = await world.send(
    'production.complete',
    production,
    { ...world.completion, gain },
    service('encoder'),
    lease,
  );
  const started = await start(world, encoded);
  expect(started).toMatchObject({
    lifecycle_state: 'encoded',
    attributes: { tracks: { a192: { state: 'encoding' } } },
  });
  expect((await jobOf(management.pool, production.id))?.input).toEqual({
    production_id: production.id,
    storage_key: encoded.attributes['storage_key'],
    source_etag: expect.any(String),
    gain,
    silences: world.completion.silences,
    markers_ms: [],
  });
  const { rows } = await management.pool.query(
    `select work_class from job where subject_id = $1 and kind = 'encode_hls_audio'`,
    [production.id],
  );
  expect(rows).toEqual([{ work_class: 'bulk' }]);
  await expect(start(world, started)).rejects.toMatchObject({ code: 'state_not_allowed' });

  const ready = await record(world, started, await world.lease('encode_hls_audio', production.id));
  expect(ready.attributes).toEqual({ ...encoded.attributes, tracks: { a192: { state: 'ready', file: hlsTrack } } });
});

test('a file stays while its track is made again, and after that failed', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.trackEncoding();
  const again = await start(world, await record(world, production, lease));
  expect(trackIn(again)).toEqual({ state: 'encoding', file: hlsTrack });
  const problem = { code: 'encoder_failed', detail: 'The disk is full.' };
  const second = await world.lease('encode_hls_audio', production.id);
  const failed = await world.send('production.fail_track', again, { track, problem }, service('encoder'), second);
  expect(trackIn(failed)).toEqual({ state: 'failed', file: hlsTrack, problem });
  const third = await start(world, failed);
  const other = await record(world, third, await world.lease('encode_hls_audio', production.id), 'd'.repeat(64));
  expect(trackIn(other)).toEqual({ state: 'ready', file: { ...hlsTrack, sha256: 'd'.repeat(64) } });
});

test('a production that is deleted, or gets another file, ends the job of its track', async () => {
  const world = createWorld(management);
  for (const end of [
    (production: ResourceView) => world.send('production.delete', production, {}),
    async (production: ResourceView) =>
      world.send('production.revise', production, { file_url: (await world.upload()).attributes['file_url'] }),
  ]) {
    // It is not the audio of its episode: newer audio was encoded before.
    const { production: older, lease: olderLease } = await world.encoding();
    const newer = await world.send('production.create', null, {
      episode_id: older.attributes['episode_id'],
      file_url: (await world.upload()).attributes['file_url'],
    });
    await encode(world, await world.send('production.start', newer, {}));
    await until(String(older.attributes['episode_id']), (row) => row.attributes['current_production_id'] === newer.id);
    const encoded = await world.send('production.complete', older, world.completion, service('encoder'), olderLease);
    const production = await start(world, encoded);
    const lease = await world.lease('encode_hls_audio', production.id);
    const ended = await end(production);
    expect(await renewLease(management.pool, lease.job_id, lease.lease_id, 1000)).toEqual({ held: false, stop: true });
    await expect(record(world, ended, lease)).rejects.toMatchObject({ code: 'state_not_allowed' });
  }
});

test('a production whose file is not stored any more gets the reason in words, and no job', async () => {
  const world = createWorld(management);
  const production = await world.encoded();
  await management.store.remove(String(production.attributes['storage_key']));
  const { attributes } = await start(world, production);
  expect(trackIn({ attributes })).toEqual({
    state: 'failed',
    problem: { code: 'upload_not_received', detail: expect.stringContaining('not stored any more') },
  });
  expect(await jobsOf(production.id)).toEqual([]);
});

test('new audio gets a track when its podcast has HLS, and none when it has not', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const encodedIn = async (podcast: ResourceView) => {
    const episode = await world.send('episode.create', null, { podcast_id: podcast.id, title: 'One' });
    const file_url = (await world.upload()).attributes['file_url'];
    const created = await world.send('production.create', null, { episode_id: episode.id, file_url });
    const production = await world.send('production.start', created, {});
    await encode(world, production);
    return production;
  };
  const silent = await encodedIn(await world.podcast());
  const streamed = await encodedIn(
    await world.send('podcast.create', null, { title: 'A', language: 'en', hls_audio: true }),
  );
  await until(streamed.id, (row) => trackIn(row)?.['state'] === 'encoding');
  expect(trackIn(await read(silent.id))).toBeUndefined();
});

test('a podcast that is switched on gets the missing tracks of what its episodes play, once', async () => {
  const world = createWorld(management);
  const podcast = await world.podcast();
  const episodes: ResourceView[] = [];
  for (let i = 0; i < 3; i++) episodes.push(await world.audibleEpisode(podcast));
  const [ready, missing, failed] = await Promise.all(episodes.map((each) => read(currentOf(each))));
  const ids = episodes.map(currentOf);
  const view = (at: number, row: { readonly version: number }): ResourceView => ({
    ...episodes[at]!,
    ...{ resource_type: 'productions', id: ids[at]!, version: row.version },
  });
  await record(world, await start(world, view(0, ready!)), await world.lease('encode_hls_audio', ids[0]!));
  const problem = { code: 'encoder_failed', detail: 'The disk is full.' };
  const trying = await start(world, view(2, failed!));
  const lease = await world.lease('encode_hls_audio', ids[2]!);
  await world.send('production.fail_track', trying, { track, problem }, service('encoder'), lease);
  expect(trackIn(missing!)).toBeUndefined();

  const of = { workspaceId: world.workspaceId, podcastId: podcast.id };
  expect(await listMissingTracks(management.pool, of, [track], undefined, 1)).toEqual([ids[2]]);
  expect(await listMissingTracks(management.pool, of, [track], ids[2], 1)).toEqual([ids[1]]);
  expect(await listMissingTracks(management.pool, of, [track], ids[1], 1)).toEqual([]);

  const on = await world.send('podcast.revise', podcast, { hls_audio: true });
  for (const id of [ids[1]!, ids[2]!]) await until(id, (row) => trackIn(row)?.['state'] === 'encoding');
  expect(await jobsOf(ids[0]!)).toEqual([{ state: 'done' }]);
  expect(await listMissingTracks(management.pool, of, [track], undefined, 10)).toEqual([]);

  // A revision of another field does not start what failed meanwhile.
  const again = view(2, await read(ids[2]!));
  const retried = await world.lease('encode_hls_audio', ids[2]!);
  await world.send('production.fail_track', again, { track, problem }, service('encoder'), retried);
  const started: string[] = [];
  const reactions = trackReactions(async (_event, step) => void started.push(step), management.pool);
  for (const after of [on, await world.send('podcast.revise', on, { title: 'Another' })]) {
    const { id, version } = after;
    const event = { ...{ id: newId('evt'), type: 'podcast.revised', workspace_id: world.workspaceId }, after };
    const subject = { type: 'podcasts', id, version };
    await reactTo(reactions, { ...event, subject, operation_id: newId('op'), occurred_at: new Date().toISOString() });
    expect(started).toEqual([`track:${ids[2]}:a192`]);
  }
});

test('older audio that an episode gets back gets its track too', async () => {
  const world = createWorld(management);
  const podcast = await world.podcast();
  const episode = await world.audibleEpisode(podcast);
  const older = currentOf(episode);
  const file_url = (await world.upload()).attributes['file_url'];
  const created = await world.send('production.create', null, { episode_id: episode.id, file_url });
  await encode(world, await world.send('production.start', created, {}));
  await until(episode.id, (row) => row.attributes['current_production_id'] === created.id);
  await world.send('podcast.revise', podcast, { hls_audio: true });
  await until(created.id, (row) => trackIn(row)?.['state'] === 'encoding');
  expect(trackIn(await read(older))).toBeUndefined();
  const now = { ...episode, version: (await read(episode.id)).version };
  await world.send('episode.attach_production', now, { production_id: older });
  await until(older, (row) => trackIn(row)?.['state'] === 'encoding');
});

type Part = {
  readonly upload_id: string;
  readonly state: string;
  readonly segment: { readonly sha256: string };
  readonly problem?: object;
};
const partIn = (row: { readonly attributes: Record<string, unknown> }, part: 'intro' | 'outro') =>
  row.attributes[part] as Part;

test('an intro of an earlier release gets its track when the podcast is switched on, and is used meanwhile', async () => {
  const world = createWorld(management);
  const podcast = await world.ready('intro');
  const before = partIn(podcast, 'intro');
  await world.send('podcast.revise', podcast, { hls_audio: true });
  const started = await until(podcast.id, ({ version }) => version === podcast.version + 2);
  expect(partIn(started, 'intro')).toEqual(before);
  expect((await jobOf(management.pool, podcast.id))?.input).toMatchObject({ podcast_id: podcast.id, part: 'intro' });
  const view = { ...podcast, version: started.version };
  const lease = await world.lease('encode_segment', podcast.id);
  const made = { segment: { ...before.segment, hls: hlsTrack } };
  const recorded = await world.send('podcast.record_intro', view, made, service('encoder'), lease);
  expect(partIn(recorded, 'intro')).toEqual({ ...before, ...made });
  const again = world.send('podcast.start_intro_track', recorded, {}, service('management'));
  await expect(again).rejects.toMatchObject({ code: 'state_not_allowed' });
});

test('an outro whose track cannot be made stays usable, and says why', async () => {
  const world = createWorld(management);
  const podcast = await world.ready('outro');
  const before = partIn(podcast, 'outro');
  const startOutro = (of: ResourceView) => world.send('podcast.start_outro_track', of, {}, service('management'));
  const started = await startOutro(podcast);
  const problem = { code: 'encoder_failed', detail: 'The disk is full.' };
  const lease = await world.lease('encode_segment', podcast.id);
  const failed = await world.send('podcast.fail_outro', started, { problem }, service('encoder'), lease);
  expect(partIn(failed, 'outro')).toEqual({ ...before, problem });

  const { rows } = await management.pool.query<{ key: string }>(
    `select storage_key as key from kept_upload where upload_id = $1`,
    [before.upload_id],
  );
  await management.store.remove(rows[0]!.key);
  expect(partIn(await startOutro(failed), 'outro')).toMatchObject({
    ...before,
    problem: { code: 'upload_not_received', detail: expect.stringContaining('not stored any more') },
  });
});

test('a podcast names HLS in its feed only together with HLS, and is told so', async () => {
  const world = createWorld(management);
  const errors = [{ path: '/changes/hls_in_feed', code: 'needs_hls_audio' }];
  const refused = { code: 'validation_failed', context: { errors } };
  const settings = { title: 'A', language: 'en' };
  const named = { hls_in_feed: true };
  await expect(world.send('podcast.create', null, { ...settings, ...named })).rejects.toMatchObject(refused);
  const podcast = await world.send('podcast.create', null, settings);
  await expect(world.send('podcast.revise', podcast, named)).rejects.toMatchObject(refused);
  const both = await world.send('podcast.revise', podcast, { ...named, hls_audio: true });
  const off = await world.send('podcast.revise', both, { hls_audio: false });
  expect(off.attributes).toMatchObject({ hls_audio: false, hls_in_feed: true });
});
