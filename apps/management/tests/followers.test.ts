import { expect, test } from '@jest/globals';
import { topics, type ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { until as waitUntil } from '@longwave/test-kit';
import { bus, caughtUp, encode, management, read, until } from './_following.ts';
import { hlsTrack, service } from './_values.ts';
import { createWorld } from './_world.ts';

test('an encoded production becomes the audio of its episode and publishes it when the production asks for it', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const production = await world.production();
  await world.send('production.start', production, { publish_episode: true });
  await encode(world, production);
  const episode = await until(
    String(production.attributes['episode_id']),
    (row) => row.lifecycle_state === 'published',
  );
  expect(episode).toMatchObject({ version: 3, attributes: { current_production_id: production.id } });
});

test('an older production that is encoded last does not replace a newer one', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const episode = await world.episode();
  const create = async () =>
    world.send('production.create', null, {
      episode_id: episode.id,
      file_url: (await world.upload()).attributes['file_url'],
    });
  const older = await create();
  const newer = await create();
  for (const production of [older, newer]) await world.send('production.start', production, {});
  await encode(world, newer);
  await until(episode.id, (row) => row.attributes['current_production_id'] === newer.id);
  await encode(world, older);
  await caughtUp(world);
  expect((await read(episode.id)).attributes['current_production_id']).toBe(newer.id);
});

test('the upload of a file that is no audio ends, and its object is removed', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.encoding();
  const problem = { code: 'media_not_audio', detail: 'The file is a text.' };
  const uploadId = String(production.attributes['upload_id']);
  const { attributes } = await read(uploadId);
  await world.send('production.fail', production, { problem }, service('encoder'), lease);
  await until(uploadId, (row) => row.lifecycle_state === 'aborted');
  while (await management.store.find(String(attributes['storage_key'])))
    await new Promise((resolve) => setImmediate(resolve));
});

test('a faulty file that another production uses stays', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.encoding();
  const shared = { episode_id: production.attributes['episode_id'], file_url: production.attributes['file_url'] };
  await world.send('production.create', null, shared);
  const problem = { code: 'media_not_audio', detail: 'The file is a text.' };
  await world.send('production.fail', production, { problem }, service('encoder'), lease);
  await caughtUp(world);
  expect((await read(String(production.attributes['upload_id']))).lifecycle_state).toBe('received');
});

test('a faulty file that a clip plays stays', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const upload = await world.upload('one.mp3', Buffer.from('ID3'));
  const { id: episodeId } = await world.episode();
  const url = upload.attributes['file_url'];
  await world.send('media_clip.register', null, { episode_id: episodeId, file_format: 'mp3', url, duration_ms: 1 });
  const created = await world.send('production.create', null, { episode_id: episodeId, file_url: url });
  const production = await world.send('production.start', created, {});
  const lease = await world.lease('encode_production', production.id);
  const problem = { code: 'media_truncated', detail: 'The file ends early.' };
  await world.send('production.fail', production, { problem }, service('encoder'), lease);
  await caughtUp(world);
  expect((await read(upload.id)).lifecycle_state).toBe('received');
});

test('files of artwork, intro and outro are received: they do not expire while they are in use', async () => {
  const world = createWorld(management);
  const [cover, opening, closing] = [await world.upload('a.png'), await world.upload(), await world.upload()];
  const url = (upload: ResourceView) => upload.attributes['file_url'];
  const podcast = await world.send('podcast.create', null, { title: 'A', language: 'en', artwork_url: url(cover) });
  const begun = await world.send('podcast.set_intro', podcast, { file_url: url(opening) });
  await world.send('podcast.set_outro', begun, { file_url: url(closing) });
  for (const { id } of [cover, opening, closing]) await until(id, (row) => row.lifecycle_state === 'received');
});

test('a published episode is unpublished with its last clip, at the same moment; one that has a production stays', async () => {
  const world = createWorld(management);
  const clip = async (episode: ResourceView) =>
    world.send('media_clip.register', null, {
      episode_id: episode.id,
      file_format: 'mp3',
      url: (await world.upload('one.mp3', Buffer.from('ID3'))).attributes['file_url'],
      duration_ms: 1000,
    });
  const [silent, playable] = [await world.episode(), await world.playableEpisode()];
  const clips = [await clip(silent), await clip(silent), await clip(playable)];
  // The follower may attach the production as well, a moment later.
  await caughtUp(world);
  for (const episode of [silent, playable])
    await world.send('episode.publish', { ...episode, version: (await read(episode.id)).version }, {});
  await world.send('media_clip.delete', clips[0]!, {});
  await world.send('media_clip.delete', clips[2]!, {});
  await caughtUp(world);
  for (const { id } of [silent, playable]) expect((await read(id)).lifecycle_state).toBe('published');
  await world.send('media_clip.delete', clips[1]!, {});
  expect(await read(silent.id)).toMatchObject({
    lifecycle_state: 'unpublished',
    attributes: { published_at: expect.any(String) },
  });
});

const clipsOf = async (productionId: string): Promise<readonly { lifecycle_state: string; episode_id: string }[]> =>
  (
    await management.pool.query(
      `select lifecycle_state, attributes ->> 'episode_id' as episode_id from resource
       where resource_type = 'media_clips' and attributes ->> 'production_id' = $1 order by created_at`,
      [productionId],
    )
  ).rows;

/** Waits until the clips of a production are in these states, oldest first. */
async function untilClips(productionId: string, ...states: readonly string[]): Promise<void> {
  const statesOf = async () => (await clipsOf(productionId)).map(({ lifecycle_state: state }) => state);
  await waitUntil(statesOf, { holds: (found) => found.join() === states.join() });
}

test('each encoded production is one clip of its episode, beside earlier ones; a deleted production leaves the one that is played', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const episode = await world.episode();
  const made: ResourceView[] = [];
  for (const name of ['one.mp3', 'two.mp3']) {
    const production = await world.send('production.create', null, {
      episode_id: episode.id,
      file_url: (await world.upload(name)).attributes['file_url'],
    });
    await world.send('production.start', production, {});
    await encode(world, production);
    await untilClips(production.id, 'active');
    made.push(production);
  }
  const [older, newer] = made as [ResourceView, ResourceView];
  expect((await clipsOf(older.id))[0]).toMatchObject({ lifecycle_state: 'active', episode_id: episode.id });
  await until(episode.id, (row) => row.attributes['current_production_id'] === newer.id);
  await world.send('production.delete', { ...older, version: 3 }, {});
  await untilClips(older.id, 'deleted');
  await world.send('production.delete', { ...newer, version: 3 }, {});
  await caughtUp(world);
  await untilClips(newer.id, 'active');
  expect((await read(episode.id)).attributes['current_production_id']).toBe(newer.id);
});

test('an episode has one media clip, the MP3, after its track of HLS is recorded', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.trackEncoding();
  await untilClips(production.id, 'active');
  const changes = { track: 'a192', file: hlsTrack };
  await world.send('production.record_track', production, changes, service('encoder'), lease);
  await caughtUp(world);
  const { rows } = await management.pool.query(
    `select lifecycle_state, attributes ->> 'file_format' as format from resource
     where resource_type = 'media_clips' and attributes ->> 'episode_id' = $1`,
    [production.attributes['episode_id']],
  );
  expect(rows).toEqual([{ lifecycle_state: 'active', format: 'mp3' }]);
});

test('a production with another source loses the clip of the first one and gets a new one when it is encoded', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const first = await world.production();
  const episodeId = String(first.attributes['episode_id']);
  await world.send('production.start', first, {});
  await encode(world, first);
  await untilClips(first.id, 'active');
  const second = await world.send('production.create', null, {
    episode_id: episodeId,
    file_url: (await world.upload()).attributes['file_url'],
  });
  await world.send('production.start', second, {});
  await encode(world, second);
  await until(episodeId, (row) => row.attributes['current_production_id'] === second.id);
  const { version } = await read(first.id);
  const file_url = (await world.upload()).attributes['file_url'];
  const revised = await world.send('production.revise', { ...first, version }, { file_url });
  await untilClips(first.id, 'deleted');
  const started = await world.send('production.start', revised, {});
  const lease = await world.lease('encode_production', first.id);
  await world.send('production.complete', started, world.completion, service('encoder'), lease);
  await untilClips(first.id, 'deleted', 'active');
});

test('files that a resource names are received, also those of a collaborator; an id in a text keeps no file of another account', async () => {
  const world = createWorld(management);
  const other = createWorld(management);
  const [artwork, intro, chapter, clip, creative, ofCollaborator, ofStranger] = [
    await world.upload('a.png'),
    await world.upload(),
    await world.upload('c.png'),
    await world.upload('one.mp3', Buffer.from('ID3')),
    await world.upload(),
    await other.upload(),
    await other.upload(),
  ];
  const url = (upload: ResourceView) => upload.attributes['file_url'];
  await world.send('podcast.revise', await world.podcast(), { artwork_url: url(artwork) });
  await world.send('podcast.set_intro', await world.podcast(), { file_url: url(intro) });
  const episode = await world.episode();
  await world.send('episode.set_chapters', episode, {
    chapters: [{ start_ms: 0, title: 'One', image_url: url(chapter) }],
  });
  const clipped = { file_format: 'mp3', url: url(clip), duration_ms: 1 };
  await world.send('media_clip.register', null, { episode_id: episode.id, ...clipped });
  await world.send('creative.attach_media', await world.creative(), { upload_ref: creative.id });
  await world.send(
    'production.derive',
    null,
    { episode_id: episode.id, file_url: url(ofCollaborator) },
    service('management'),
  );
  await world.send('podcast.revise', await world.podcast(), { description: `Hear ${String(url(ofStranger))}` });
  for (const upload of [artwork, intro, chapter, clip, creative, ofCollaborator])
    await until(upload.id, (row) => row.lifecycle_state === 'received');
  await caughtUp(world);
  expect((await read(ofStranger.id)).lifecycle_state).toBe('granted');
});

test('the object and the parts of an ended upload are removed', async () => {
  const world = createWorld(management);
  const single = await world.upload();
  const large = await world.send('upload.grant', null, { filename: 'one.wav', filesize: 40_000_000 });
  const { upload_key: key, multipart_upload_id: id } = large.attributes['multipart'] as {
    upload_key: string;
    multipart_upload_id: string;
  };
  const part = await management.store.presignPart(key, id, 1, { expiresInSeconds: 60 });
  expect((await fetch(part, { method: 'PUT', body: 'abc' })).status).toBe(200);
  expect(await management.store.listParts(key, id)).toHaveLength(1);
  for (const upload of [single, large]) await world.send('upload.expire', upload, {}, service('management'));
  const isGone = async () =>
    !(await management.store.find(String(single.attributes['storage_key']))) &&
    (await management.store.listParts(key, id).then(
      () => false,
      () => true,
    ));
  while (!(await isGone())) await new Promise((resolve) => setImmediate(resolve));
});

test('the plan that was published last stays; a plan for the future does not end the current one', async () => {
  const world = createWorld(management);
  const first = await world.readyPlan();
  const second = await world.readyPlan();
  await world.send('serving_plan.publish', second, {});
  await world.send('serving_plan.publish', first, {});
  await until(second.id, (row) => row.lifecycle_state === 'superseded');
  expect((await read(first.id)).lifecycle_state).toBe('published');

  const tomorrow = new Date(Date.now() + 24 * 3600_000).toISOString();
  await world.send('serving_plan.publish', await world.readyPlan(tomorrow), {});
  await caughtUp(world);
  expect((await read(first.id)).lifecycle_state).toBe('published');
});

test('a new account gets its workspace and its encoding limit; an older event never overwrites a newer plan', async () => {
  const workspaceId = newId('ws');
  const accountId = newId('acc');
  const event = (version: number, type: string, limit: number | null) => ({
    topic: topics.identity,
    key: accountId,
    id: newId('evt'),
    type,
    payload: {
      id: newId('evt'),
      type,
      workspace_id: workspaceId,
      subject: { type: 'accounts', id: accountId, version },
      operation_id: newId('op'),
      occurred_at: new Date().toISOString(),
      after: {
        resource_type: 'accounts',
        id: accountId,
        workspace_id: workspaceId,
        version,
        lifecycle_state: 'active',
        links: {},
        digest: 'd',
        attributes: { name: 'Harbour', plan: 'grow', encoding_ms_per_month: limit, subscription: { state: 'active' } },
        created_at: new Date().toISOString(),
        updated_at: new Date().toISOString(),
        updated_by: { operation_id: newId('op') },
      },
    },
  });
  await bus.publish([
    event(1, 'account.created', 1000),
    event(3, 'account.plan_set', 3000),
    event(2, 'account.plan_set', 2000),
  ]);
  const limit = async () =>
    (
      await management.pool.query('select ms_per_month::int as ms from encoding_limit where workspace_id = $1', [
        workspaceId,
      ])
    ).rows[0]?.ms as number | undefined;
  while ((await limit()) !== 3000) await new Promise((resolve) => setImmediate(resolve));
  while (!(await read(workspaceId))) await new Promise((resolve) => setImmediate(resolve));
  await caughtUp(createWorld(management));
  expect(await limit()).toBe(3000);
});
