import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { DomainEvent, ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { createLogger } from '@longwave/service-kit';
import { decodeJwt } from 'jose';
import { markFilesReceived } from '../src/workspace/uploads/follow-uploads.ts';
import { sendAsManagement } from '../src/background/send-as-management.ts';
import { mp3, startOutsideHost, type OutsideFile, type OutsideHost } from './_outside-host.ts';
import { mediaUrl, startTestManagement, type TestManagement } from './_management.ts';
import { clipOf, hour, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
let host: OutsideHost;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  management = stack.use(await startTestManagement());
  host = stack.use(await startOutsideHost());
});
beforeEach(() => {
  management.publicFetch = host.publicFetch;
});
afterAll(async () => stack.disposeAsync());

const body = mp3();
const register = async (changes: Record<string, unknown>, world = createWorld(management)) =>
  world.send('media_clip.register', null, {
    episode_id: (await world.episode()).id,
    file_format: 'mp3',
    duration_ms: 480,
    ...changes,
  });

test('a file on another host is registered with the size that the host states', async () => {
  const url = host.serve('a.mp3', { body, type: 'audio/mpeg' });
  const clip = await register({ url, size: body.length });
  expect(clip).toMatchObject({
    lifecycle_state: 'active',
    attributes: { url, file_format: 'mp3', size: body.length, duration_ms: 480, hosted: 'outside' },
  });
  expect((await register({ url })).attributes['size']).toBe(body.length);
});

const faults: readonly (readonly [string, OutsideFile, Record<string, unknown>, string, RegExp])[] = [
  ['another size', { body, type: 'audio/mpeg' }, { size: 7 }, '/changes/size', /The file has 7680 bytes/],
  ['another format', { body, type: 'audio/mpeg' }, { file_format: 'flac' }, '/changes/file_format', /is not flac/],
  ['a type of another format', { body, type: 'audio/flac' }, {}, '/changes/file_format', /\(audio\/flac\) is not mp3/],
  ['a web page', { body: Buffer.from('<html>'), type: 'audio/mpeg' }, {}, '/changes/file_format', /is not mp3/],
  ['no byte ranges', { body, type: 'audio/mpeg', ranges: false }, {}, '/changes/url', /ignores byte ranges/],
  ['no HEAD', { body, type: 'audio/mpeg', headStatus: 405 }, {}, '/changes/url', /HEAD with 405/],
  ['no file', { body, status: 404 }, {}, '/changes/url', /404/],
  ['nothing in it', { body: Buffer.alloc(0), type: 'audio/mpeg', ranges: false }, {}, '/changes/url', /empty/],
];

test.each(faults)('a file outside with %s is refused by field, in words', async (name, file, changes, path, words) => {
  const url = host.serve(encodeURIComponent(name), file);
  await expect(register({ url, ...changes })).rejects.toMatchObject({
    status: 422,
    message: expect.stringMatching(words),
    context: { errors: [{ path }] },
  });
});

test('a file on a private network is refused like one on a host that does not exist', async () => {
  await expect(register({ url: 'https://10.0.0.1/a.mp3' })).rejects.toMatchObject({
    code: 'media_not_fetchable',
    message: 'There is nothing to fetch at this address. No public host with this name was found. Check the address.',
    context: { errors: [{ path: '/changes/url' }] },
  });
});

test('an upload is registered with the size and format that it has', async () => {
  const world = createWorld(management);
  const upload = await world.upload('one.mp3', body);
  const url = upload.attributes['file_url'];
  expect(await register({ url }, world)).toMatchObject({ attributes: { url, size: body.length, hosted: 'ours' } });
  await expect(register({ url, size: 3 }, world)).rejects.toMatchObject({
    context: { errors: [{ path: '/changes/size' }] },
  });
  const text = await world.upload('text.mp3', Buffer.from('Hello'));
  await expect(register({ url: text.attributes['file_url'] }, world)).rejects.toMatchObject({
    context: { errors: [{ path: '/changes/file_format' }] },
  });
  const empty = await world.upload('empty.mp3', Buffer.alloc(0));
  await expect(register({ url: empty.attributes['file_url'] }, world)).rejects.toMatchObject({
    message: 'The file is empty.',
  });
});

test('a file that is not public, not there, or of another account is no clip', async () => {
  const world = createWorld(management);
  for (const type of ['private', 'temporary'] as const)
    await expect(
      register({ url: (await world.upload('one.mp3', body, type)).attributes['file_url'] }, world),
    ).rejects.toMatchObject({ code: 'validation_failed', context: { errors: [{ path: '/changes/url' }] } });
  const granted = await world.send('upload.grant', null, { filename: 'never-sent.mp3' });
  const foreign = await createWorld(management).upload('one.mp3', body);
  for (const url of [granted.attributes['file_url'], foreign.attributes['file_url'], `${mediaUrl}/feeds/x.xml`])
    await expect(register({ url }, world)).rejects.toMatchObject({
      code: 'upload_not_received',
      context: { errors: [{ path: '/changes/url' }] },
    });
});

test('a clip is deleted once', async () => {
  const world = createWorld(management);
  const clip = await register({ url: host.serve('b.mp3', { body, type: 'audio/mpeg' }) }, world);
  const deleted = await world.send('media_clip.delete', clip, {});
  expect(deleted.lifecycle_state).toBe('deleted');
  await expect(world.send('media_clip.delete', deleted, {})).rejects.toMatchObject({ code: 'state_not_allowed' });
});

/** An episode that plays the clip of an encoded production, in a state of its own. */
async function playedClip(world: World, state: 'draft' | 'published' | 'scheduled' = 'draft') {
  let episode = await world.playableEpisode();
  const publish_at = new Date(Date.now() + hour).toISOString();
  if (state === 'published') episode = await world.send('episode.publish', episode, {});
  if (state === 'scheduled') episode = await world.send('episode.schedule', episode, { publish_at });
  const clip = await world.send(
    'media_clip.record',
    null,
    {
      episode_id: episode.id,
      production_id: episode.attributes['current_production_id'],
      file_format: 'mp3',
      sha256: 'a'.repeat(64),
      size: 384,
      duration_ms: 24,
    },
    service('management'),
  );
  return { episode, clip };
}

const deletion = (world: World, clip: ResourceView) => ({
  workspaceId: world.workspaceId,
  commandType: 'media_clip.delete',
  idempotencyKey: newId('req'),
  subject: { type: 'media_clips', id: clip.id },
  changes: {},
});

const find = async ({ id }: { readonly id: string }) =>
  (
    await management.pool.query<{
      version: number;
      digest: string;
      lifecycle_state: string;
      attributes: Record<string, unknown>;
    }>('select version, digest, lifecycle_state, attributes from resource where id = $1', [id])
  ).rows[0]!;

test.each([
  ['published', 'unpublished', 'episode.unpublished'],
  ['scheduled', 'unpublished', 'episode.unpublished'],
  ['draft', 'draft', 'episode.audio_removed'],
] as const)(
  'with its clip a %s episode loses its audio and is %s: one operation, one receipt and one event say so',
  async (before, after, event) => {
    const world = createWorld(management);
    const { episode, clip } = await playedClip(world, before);
    const request = deletion(world, clip);
    const first = await management.execute(request, world.actor);
    const { id: operationId, ...operation } = JSON.parse(first.operationJson) as { id: string };
    expect(operation).toMatchObject({
      subject: { id: clip.id, version: 2 },
      consequences: [{ type: 'episodes', id: episode.id, version: episode.version + 1, state: after, event }],
    });
    const row = await find(episode);
    expect(row).toMatchObject({ version: episode.version + 1, lifecycle_state: after });
    for (const gone of ['current_production_id', 'duration_ms', 'publish_at'])
      expect(row.attributes).not.toHaveProperty(gone);

    const { rows: receipts } = await management.pool.query<{ jws: string }>(
      'select jws from receipt where operation_id = $1',
      [operationId],
    );
    expect(receipts.map(({ jws }) => decodeJwt(jws))).toEqual([
      expect.objectContaining({
        subject: expect.objectContaining({ type: 'media_clips', id: clip.id, version_after: 2 }),
        consequences: [
          {
            type: 'episodes',
            id: episode.id,
            version_before: episode.version,
            version_after: episode.version + 1,
            digest_after: row.digest,
          },
        ],
      }),
    ]);
    const { rows: events } = await management.pool.query<{ type: string }>(
      `select type from outbox where payload->>'operation_id' = $1 order by position`,
      [operationId],
    );
    expect(events.map(({ type }) => type)).toEqual(['media_clip.deleted', event]);

    expect(await management.execute(request, world.actor)).toEqual({ ...first, replayed: true });
    expect((await find(episode)).version).toBe(episode.version + 1);
    await expect(world.send('episode.publish', { ...episode, version: row.version }, {})).rejects.toMatchObject({
      code: 'episode_has_no_audio',
    });
  },
);

test('an episode stays published while a clip is left that somebody registered, and is unpublished with the last one', async () => {
  const world = createWorld(management);
  const { episode, clip } = await playedClip(world, 'published');
  const url = host.serve('left.mp3', { body, type: 'audio/mpeg' });
  const left = await world.send('media_clip.register', null, {
    ...{ episode_id: episode.id, file_format: 'mp3', url, duration_ms: 480 },
  });
  await management.execute(deletion(world, clip), world.actor);
  expect((await find(episode)).lifecycle_state).toBe('published');
  await management.execute(deletion(world, left), world.actor);
  expect(await find(episode)).toMatchObject({
    lifecycle_state: 'unpublished',
    attributes: { published_at: expect.any(String) },
  });
});

test('a deleted clip of an earlier production, or beside a production, changes nothing about the episode', async () => {
  const world = createWorld(management);
  const { episode } = await playedClip(world, 'published');
  const other = await world.encoded();
  const url = host.serve('beside.mp3', { body, type: 'audio/mpeg' });
  const clips = [
    await world.send('media_clip.register', null, {
      ...{ episode_id: episode.id, file_format: 'mp3', url, duration_ms: 480 },
    }),
    await world.send(
      'media_clip.record',
      null,
      {
        ...{ episode_id: episode.id, production_id: other.id, file_format: 'mp3' },
        ...{ sha256: 'a'.repeat(64), size: 384, duration_ms: 24 },
      },
      service('management'),
    ),
  ];
  for (const clip of clips) {
    const { operationJson } = await management.execute(deletion(world, clip), world.actor);
    expect(JSON.parse(operationJson)).not.toHaveProperty('consequences');
  }
  expect(await find(episode)).toMatchObject({ version: episode.version, lifecycle_state: 'published' });
});

test('a clip that is deleted with mode "stop_all" ends the plays of its episode, also the clip of earlier audio', async () => {
  const world = createWorld(management);
  for (const replaced of [false, true]) {
    const { episode, clip } = await playedClip(world, 'published');
    const changes = { mode: 'stop_all' };
    let { version } = episode;
    if (replaced) {
      const file_url = (await world.upload()).attributes['file_url'];
      const created = await world.send('production.create', null, { episode_id: episode.id, file_url });
      const started = await world.send('production.start', created, {});
      const lease = await world.lease('encode_production', started.id);
      const made = await world.send('production.complete', started, world.completion, service('encoder'), lease);
      ({ version } = await world.send('episode.attach_production', episode, { production_id: made.id }));
    }
    const { operationJson } = await management.execute({ ...deletion(world, clip), changes }, world.actor);
    const [state, event] = replaced ? ['published', 'episode.audio_removed'] : ['unpublished', 'episode.unpublished'];
    expect(JSON.parse(operationJson)).toMatchObject({
      consequences: [{ id: episode.id, version: version + 1, state, event }],
    });
    const after = await find(episode);
    expect(after).toMatchObject({ lifecycle_state: state, attributes: { plays_end_before: expect.any(String) } });
    expect('current_production_id' in after.attributes).toBe(replaced);
  }
});

test('audio that was deleted as a clip does not come back with its production', async () => {
  const world = createWorld(management);
  const { episode, clip } = await playedClip(world);
  await management.execute(deletion(world, clip), world.actor);
  const { version } = await find(episode);
  const changes = { production_id: episode.attributes['current_production_id'] };
  await expect(world.send('episode.attach_production', { ...episode, version }, changes)).rejects.toMatchObject({
    code: 'episode_has_no_audio',
  });
});

test('an episode that is published while its clip is deleted is never left published without audio, ten times', async () => {
  const world = createWorld(management);
  for (let round = 0; round < 10; round++) {
    const { episode, clip } = await playedClip(world);
    const pair = [
      () => world.send('episode.publish', { ...episode }, {}),
      () => management.execute(deletion(world, clip), world.actor),
    ];
    await Promise.allSettled((round % 2 === 0 ? pair : pair.toReversed()).map((send) => send()));
    expect((await find(clip)).lifecycle_state).toBe('deleted');
    expect((await find(episode)).lifecycle_state).toMatch(/^(draft|unpublished)$/);
  }
});

test("a production's clip is the address of its rendition", async () => {
  const world = createWorld(management);
  const production = await world.encoded();
  const { id, attributes } = production;
  const clip = await world.send('media_clip.record', null, clipOf(production), service('management'));
  expect(clip.attributes).toEqual({
    episode_id: attributes['episode_id'],
    production_id: id,
    file_format: 'mp3',
    url: `${mediaUrl}/delivery/v1/a/${'a'.repeat(64)}/${id}.mp3?e=${String(attributes['episode_id'])}`,
    size: 384,
    duration_ms: 24,
    hosted: 'ours',
  });
});

test('an upload is received when a clip names its address, not when an address of another host contains its id', async () => {
  const world = createWorld(management);
  const [named, mentioned, foreign] = [
    await world.upload('one.mp3', body),
    await world.upload('two.mp3', body),
    await createWorld(management).upload('three.mp3', body),
  ];
  const outside = (id: string) => host.serve(`${id}.mp3`, { body, type: 'audio/mpeg' });
  const send = sendAsManagement(management.execute, createLogger('test', 'silent'));
  for (const url of [named.attributes['file_url'], outside(mentioned.id), outside(foreign.id)]) {
    const clip = await register({ url }, world);
    const event: DomainEvent = {
      id: newId('evt'),
      type: 'media_clip.registered',
      workspace_id: clip.workspace_id,
      subject: { type: 'media_clips', id: clip.id, version: clip.version },
      operation_id: clip.updated_by.operation_id,
      occurred_at: clip.updated_at,
      after: clip,
    };
    await markFilesReceived(event, { send, pool: management.pool, store: management.store });
  }
  const { rows } = await management.pool.query<{ id: string; state: string }>(
    'select id, lifecycle_state as state from resource where id = any($1)',
    [[named.id, mentioned.id, foreign.id]],
  );
  const stateOf = new Map(rows.map(({ id, state }) => [id, state]));
  expect([named, mentioned, foreign].map(({ id }) => stateOf.get(id))).toEqual(['received', 'granted', 'granted']);
});
