import { expect, test } from '@jest/globals';
import type { ResourceView } from '@longwave/events';
import { renewLease } from '../src/background/job-table.ts';
import { management, read, until } from './_following.ts';
import { hlsTrack, pictureTrack, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

type Row = { readonly version: number; readonly attributes: Record<string, unknown> };
type Track = { readonly state: string; readonly file?: object; readonly problem?: object };
const tracksIn = (row: Row) => (row.attributes['tracks'] ?? {}) as Record<string, Track>;
const statesIn = (row: Row) =>
  Object.fromEntries(Object.entries(tracksIn(row)).map(([name, { state }]) => [name, state]));

const picture = { width: 1920, height: 800, frame_rate: { frames: 50, seconds: 1 } };

/** A production of a film, with and without what an encoder of this release says of it. */
const filmOf = async (world: World, changes: object = { picture }) => {
  const { production, lease } = await world.encoding();
  const files = [...world.completion.files, { role: 'source', format: 'mp4', size_bytes: 3, sha256: 'e'.repeat(64) }];
  return world.send(
    'production.complete',
    production,
    { ...world.completion, files, ...changes },
    service('encoder'),
    lease,
  );
};
const start = (world: World, production: ResourceView, track: string) =>
  world.send('production.start_track', production, { track }, service('management'));

const viewOf = async (id: string): Promise<ResourceView & Row> => {
  const row = await read(id);
  // What commands need of it.
  return { ...row, resource_type: 'productions', id } as ResourceView & Row;
};

/** An encoder's report of the next waiting job of pictures, or of sound. */
async function report(world: World, id: string, kind: 'encode_hls_video' | 'encode_hls_audio', index = 'c') {
  const lease = await world.lease(kind, id);
  const { rows } = await management.pool.query<{ track: string | null }>(
    `select input ->> 'track' as track from job where id = $1`,
    [lease.job_id],
  );
  const track = rows[0]!.track ?? 'a192';
  const file = track === 'a192' ? hlsTrack : pictureTrack;
  const cells = { ...file.index, sha256: index.repeat(64) };
  const changes = { track, file: { ...file, index: cells }, ...(track !== 'a192' && { picture }) };
  return world.send('production.record_track', await viewOf(id), changes, service('encoder'), lease);
}

test('a size of the picture is a job of its own, with the cells of the sound, and nothing without them', async () => {
  const world = createWorld(management);
  const film = await filmOf(world);
  expect(film.attributes['picture']).toEqual(picture);
  await expect(start(world, film, 'v720')).rejects.toMatchObject({ code: 'state_not_allowed' });
  await start(world, film, 'a192');
  const heard = await report(world, film.id, 'encode_hls_audio');
  const both = await start(world, await start(world, heard, 'v720'), 'v1080');
  expect(statesIn(both)).toEqual({ a192: 'ready', v720: 'encoding', v1080: 'encoding' });
  await expect(start(world, both, 'v720')).rejects.toMatchObject({ code: 'state_not_allowed' });
  const { rows } = await management.pool.query(
    `select input, work_class from job where subject_id = $1 and kind = 'encode_hls_video' order by expected_ms`,
    [film.id],
  );
  const ofTrack = (track: string) => ({
    work_class: 'bulk',
    input: {
      production_id: film.id,
      storage_key: film.attributes['storage_key'],
      source_etag: expect.any(String),
      source_sha256: 'e'.repeat(64),
      track,
      sound_index: { storage_key: hlsTrack.index.storage_key, sha256: hlsTrack.index.sha256 },
    },
  });
  expect(rows).toEqual([ofTrack('v720'), ofTrack('v1080')]);
});

test('a size that fails says why, and leaves the others as they are', async () => {
  const world = createWorld(management);
  const film = await filmOf(world);
  await start(world, film, 'a192');
  const heard = await report(world, film.id, 'encode_hls_audio');
  await start(world, heard, 'v720');
  const shown = await report(world, film.id, 'encode_hls_video');
  const trying = await start(world, shown, 'v1080');
  const problem = { code: 'media_unsupported_codec', detail: 'The picture of the file cannot be decoded.' };
  const lease = await world.lease('encode_hls_video', film.id);
  const failed = await world.send(
    'production.fail_track',
    trying,
    { track: 'v1080', problem },
    service('encoder'),
    lease,
  );
  expect(tracksIn(failed)).toEqual({ ...tracksIn(shown), v1080: { state: 'failed', problem } });
});

test('other sound takes away the pictures that have not its cells, and those that are being made', async () => {
  const world = createWorld(management);
  const film = await filmOf(world);
  await start(world, film, 'a192');
  await start(world, await report(world, film.id, 'encode_hls_audio'), 'v720');
  const shown = await report(world, film.id, 'encode_hls_video');
  const waiting = await start(world, shown, 'v1080');
  const lease = await world.lease('encode_hls_video', film.id);
  await start(world, waiting, 'a192');
  const same = await report(world, film.id, 'encode_hls_audio');
  expect(statesIn(same)).toEqual({ a192: 'ready', v720: 'ready', v1080: 'encoding' });
  await start(world, same, 'a192');
  expect(statesIn(await report(world, film.id, 'encode_hls_audio', 'd'))).toEqual({ a192: 'ready' });
  expect(await renewLease(management.pool, lease.job_id, lease.lease_id, 1000)).toEqual({ held: false, stop: true });
});

test('a report that mixes sound and pictures is refused', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.trackEncoding();
  for (const changes of [
    { track: 'a192', file: pictureTrack, picture },
    { track: 'v720', file: hlsTrack, picture },
    { track: 'v720', file: pictureTrack },
  ])
    await expect(
      world.send('production.record_track', production, changes, service('encoder'), lease),
    ).rejects.toMatchObject({ code: 'validation_failed' });
});

test('a podcast with pictures gets the sound, then what every presentation needs, then the smaller sizes', async () => {
  const world = createWorld(management);
  const podcast = await world.podcast();
  const episode = await world.audibleEpisode(podcast);
  const id = String(episode.attributes['current_production_id']);
  // As an encoder of an earlier release left it: nobody has looked for a picture.
  await management.pool.query(
    `update resource set attributes = jsonb_set(attributes, '{files,1}', $2, true) where id = $1`,
    [id, JSON.stringify({ role: 'source', format: 'mov', size_bytes: 3, sha256: 'e'.repeat(64) })],
  );
  await world.send('podcast.revise', podcast, { hls_video: true });
  await until(id, (row) => statesIn(row)['a192'] === 'encoding');
  await report(world, id, 'encode_hls_audio');
  await until(id, (row) => statesIn(row)['v720'] === 'encoding');
  expect((await report(world, id, 'encode_hls_video')).attributes['picture']).toEqual(picture);
  const needed = await until(
    id,
    (row) => statesIn(row)['v1080'] === 'encoding' && statesIn(row)['iframe'] === 'encoding',
  );
  expect(statesIn(needed)).toEqual({ a192: 'ready', v720: 'ready', v1080: 'encoding', iframe: 'encoding' });
  for (let at = 0; at < 2; at++) await report(world, id, 'encode_hls_video');
  await until(id, (row) => statesIn(row)['v360'] === 'encoding' && statesIn(row)['v480'] === 'encoding');
});

test('an episode of sound alone gets nothing in a podcast with pictures alone', async () => {
  const world = createWorld(management);
  const podcast = await world.send('podcast.create', null, { title: 'A', language: 'en', hls_video: true });
  const heard = await world.audibleEpisode(podcast);
  // A later change that is followed in the same order proves that the first was followed.
  const both = await world.send('podcast.revise', podcast, { hls_audio: true });
  const id = String(heard.attributes['current_production_id']);
  const first = await until(id, (row) => statesIn(row)['a192'] === 'encoding');
  expect(both.attributes).toMatchObject({ hls_video: true, hls_audio: true });
  expect(tracksIn(first)).toEqual({ a192: { state: 'encoding' } });
});
