import { expect, test } from '@jest/globals';
import { compilePlan } from '../src/advertising/serving-plans/compile-plan.ts';
import { listPicturelessCreatives } from '../src/advertising/creatives/trackless-creative-table.ts';
import { management, until } from './_following.ts';
import { hlsTrack, jobOf, media, pictures, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

type Row = { readonly attributes: Record<string, unknown> };
const stateIn = (row: Row) => (row.attributes['pictures'] as { state: string } | undefined)?.state;

/** A draft of an ad with a file, whose streams an encoder prepares. */
async function attached(world: World, format: 'audio' | 'video') {
  const advertiser = await world.advertiser();
  const draft = await world.send('creative.create', null, {
    ...{ advertiser_id: advertiser.id, name: 'Ad', format, production: 'produced', universal_ad_id: 'unknown' },
  });
  const upload = await world.upload('ad.mp4');
  return world.send('creative.attach_media', draft, { upload_ref: upload.id });
}

/** The same with its streams, which have tracks. */
async function prepared(world: World, format: 'audio' | 'video') {
  const processing = await attached(world, format);
  const lease = await world.lease('encode_creative', processing.id);
  const changes = { media: [{ ...media, hls: hlsTrack }], duration_ms: media.duration_ms };
  return world.send('creative.record_media', processing, changes, service('encoder'), lease);
}

const index = { storage_key: hlsTrack.index.storage_key, sha256: hlsTrack.index.sha256 };

test('the first podcast with pictures starts those of every ad, and later ads get theirs when their sound is ready', async () => {
  const world = createWorld(management);
  const earlier = await prepared(world, 'audio');
  expect(await listPicturelessCreatives(management.pool, world.workspaceId, undefined, 10)).toEqual([earlier.id]);
  expect(await listPicturelessCreatives(management.pool, world.workspaceId, earlier.id, 10)).toEqual([]);
  await world.send('podcast.revise', await world.podcast(), { hls_video: true });
  await until(earlier.id, (row) => stateIn(row) === 'encoding');
  // An ad of sound gets a still picture: its file is not asked for.
  expect((await jobOf(management.pool, earlier.id))?.input).toEqual({ creative_id: earlier.id, sound_index: index });
  expect(await listPicturelessCreatives(management.pool, world.workspaceId, undefined, 10)).toEqual([]);

  const film = await prepared(world, 'video');
  await until(film.id, (row) => stateIn(row) === 'encoding');
  expect((await jobOf(management.pool, film.id))?.input).toMatchObject({
    ...{ creative_id: film.id, sound_index: index, source_etag: expect.any(String) },
    storage_key: expect.stringContaining('ad.mp4'),
  });
});

test('an ad with a picture of its own is refused by the encoder without one; an ad of sound may be any file', async () => {
  const world = createWorld(management);
  for (const [format, expected] of [
    ['video', true],
    ['audio', undefined],
  ] as const) {
    const { id } = await attached(world, format);
    const input = (await jobOf(management.pool, id))?.input as { needs_picture?: boolean };
    expect(input.needs_picture).toBe(expected);
  }
});

test('pictures that fail say why, and are made again by another start', async () => {
  const world = createWorld(management);
  const { creative, lease } = await world.adPicturesEncoding();
  await expect(world.send('creative.start_pictures', creative, {}, service('management'))).rejects.toMatchObject({
    code: 'state_not_allowed',
  });
  const problem = { code: 'encoder_failed', detail: 'The disk is full.' };
  const failed = await world.send('creative.fail_pictures', creative, { problem }, service('encoder'), lease);
  expect(failed.attributes['pictures']).toEqual({ state: 'failed', problem });
  const again = await world.send('creative.start_pictures', failed, {}, service('management'));
  const second = await world.lease('encode_creative_pictures', again.id);
  const ready = await world.send('creative.record_pictures', again, pictures, service('encoder'), second);
  expect(ready.attributes['pictures']).toEqual({ state: 'ready', ...pictures });
  expect(ready.lifecycle_state).toBe('approved');
});

test('other media takes away the pictures of a creative that waits for its review', async () => {
  const world = createWorld(management);
  const draft = await prepared(world, 'audio');
  const started = await world.send('creative.start_pictures', draft, {}, service('management'));
  const lease = await world.lease('encode_creative_pictures', started.id);
  const ready = await world.send('creative.record_pictures', started, pictures, service('encoder'), lease);
  expect(stateIn(ready)).toBe('ready');
  await management.pool.query(`update resource set lifecycle_state = 'pending_review' where id = $1`, [ready.id]);
  const upload = await world.upload('other.mp4');
  const other = await world.send('creative.attach_media', ready, { upload_ref: upload.id });
  expect(other.attributes).not.toHaveProperty('pictures');
});

test('a creative without tracks gets no pictures, which need the cells of its sound', async () => {
  const world = createWorld(management);
  const bare = await world.approvedCreative();
  await expect(world.send('creative.start_pictures', bare, {}, service('management'))).rejects.toMatchObject({
    code: 'state_not_allowed',
  });
});

test('a serving plan has the pictures that are ready, and none of a creative whose pictures are being made', async () => {
  const world = createWorld(management);
  const { creative } = await world.booked();
  const rowsOf = async (type: string) =>
    (
      await management.pool.query('select * from resource where workspace_id = $1 and resource_type = $2', [
        world.workspaceId,
        type,
      ])
    ).rows as never[];
  const setPictures = (value: object) =>
    management.pool.query(`update resource set attributes = jsonb_set(attributes, '{pictures}', $2) where id = $1`, [
      creative.id,
      JSON.stringify(value),
    ]);
  const compiled = async () => {
    const plan = compilePlan({ id: world.workspaceId, timeZone: 'UTC' }, world.now().toISOString(), {
      advertisers: await rowsOf('advertisers'),
      campaigns: await rowsOf('campaigns'),
      lineItems: await rowsOf('line_items'),
      creatives: await rowsOf('creatives'),
      assignments: await rowsOf('creative_assignments'),
      inventoryUnits: await rowsOf('inventory_units'),
    });
    return plan.line_items[0]!.creatives[0]!;
  };
  await setPictures({ state: 'encoding' });
  expect(await compiled()).not.toHaveProperty('pictures');
  await setPictures({ state: 'ready', ...pictures });
  const { width, height, frame_rate, codec } = pictures.v720;
  expect((await compiled()).pictures).toEqual(
    ['v360', 'v720', 'v1080', 'iframe'].map((name) => ({
      ...{ name, codec, width, height, frame_rate },
      ...{ digest: pictures.v720.sha256, size_bytes: pictures.v720.size_bytes, duration_ms: pictures.v720.duration_ms },
      ...{ index_digest: index.sha256, index_size_bytes: pictures.v720.index.size_bytes },
    })),
  );
});
