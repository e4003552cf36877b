import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { listInStates, type Actor, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { startClock } from '../src/clock/clock.ts';
import type { DueTask } from '../src/clock/due-tasks.ts';
import { uploadTasks } from '../src/uploads/expire-uploads.ts';
import { createUploadSigner } from '../src/uploads/sign-upload.ts';
import { isRead, isUsed } from '../src/uploads/upload-use.ts';
import { createWorld, hour, service, startTestManagement, type TestManagement, type World } from './_support.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
beforeEach(() => {
  management.aheadMs = 0;
});
afterAll(async () => management[Symbol.asyncDispose]());

const stateOf = async (id: string): Promise<string> =>
  (await management.pool.query('select lifecycle_state from resource where id = $1', [id])).rows[0].lifecycle_state;

const grantAs = (world: World, key: string, changes: Record<string, unknown>): ReturnType<ExecuteCommand> =>
  management.execute(
    {
      workspaceId: world.workspaceId,
      commandType: 'upload.grant',
      idempotencyKey: key,
      subject: { type: 'uploads', id: null },
      changes,
    },
    world.actor,
  );

/** What the clock would do now with uploads. */
const dueIds = async () =>
  (await Promise.all(uploadTasks.map((task) => task.findDue(management.pool, management.clock(), 100_000))))
    .flat()
    .map(({ id }) => id);

const signer = () => createUploadSigner(management.pool, management.store, management.clock);

const sign = async (world: World, upload: Pick<ResourceView, 'id'>) =>
  (await signer().signUpload(world.workspaceId, upload.id)).url;

const receive = (world: World, upload: ResourceView) => world.send('upload.receive', upload, {}, service('management'));

/** Lets the clock look once at a time to come; answers the ids that it could not end. */
async function passTime(ms: number): Promise<readonly (string | undefined)[]> {
  management.aheadMs = ms;
  const refused: (string | undefined)[] = [];
  const again = uploadTasks.map(() => Promise.withResolvers<void>());
  // When a task looks again, it has done what it found first.
  const watched = uploadTasks.map((task, index): DueTask => {
    let looks = 0;
    return {
      ...task,
      findDue: async (...asked) => {
        if (looks++ > 0) again[index]!.resolve();
        return task.findDue(...asked);
      },
    };
  });
  await using _clock = startClock({
    pool: management.pool,
    execute: management.execute,
    tasks: watched,
    clock: management.clock,
    everyMs: 20,
    onError: (_error, task) => refused.push(task.id),
  });
  await Promise.all(again.map(({ promise }) => promise));
  return refused;
}

test('the same key answers the same file address; with another name or size it is 409', async () => {
  const world = createWorld(management);
  const changes = { filename: 'one.mp3', filesize: 3 };
  const first = await grantAs(world, 'retry-1', changes);
  const again = await grantAs(world, 'retry-1', changes);
  expect(again).toMatchObject({ replayed: true, resource: { id: first.resource.id } });
  expect(again.resource.attributes['file_url']).toBe(first.resource.attributes['file_url']);
  for (const other of [{ filename: 'two.mp3' }, { filesize: 4 }, { upload_type: 'private' }])
    await expect(grantAs(world, 'retry-1', { ...changes, ...other })).rejects.toMatchObject({
      code: 'idempotency_conflict',
      status: 409,
    });
});

test('a retry under a rotated key is the same command: one upload', async () => {
  const world = createWorld(management);
  const changes = { filename: 'one.mp3', filesize: 3 };
  const first = await grantAs(world, 'rotated-1', changes);
  if (world.actor.kind !== 'principal') throw new Error('a person grants');
  const { principal } = world.actor;
  const rotated = (client_id: string): World => ({
    ...world,
    actor: { kind: 'principal', principal: { ...principal, credential_id: newId('crd'), client_id } },
  });
  const again = await grantAs(rotated(principal.credential_id), 'rotated-1', changes);
  expect(again).toMatchObject({ replayed: true, resource: { id: first.resource.id } });
  const other = await grantAs(rotated('another'), 'rotated-1', changes);
  expect(other).toMatchObject({ replayed: false });
});

test('a grant is signed afresh later, for the same object, and the URL works', async () => {
  const world = createWorld(management);
  const { resource: upload } = await grantAs(world, newId('req'), { filename: 'one.mp3' });
  management.aheadMs = 2 * hour;
  const { url, expiresAtMs } = await signer().signUpload(world.workspaceId, upload.id);
  expect(Number(expiresAtMs) - management.clock().getTime()).toBeGreaterThan(hour - 10_000);
  expect((await fetch(url, { method: 'PUT', body: 'abc' })).status).toBe(200);
  expect(await management.store.find(String(upload.attributes['storage_key']))).toMatchObject({ sizeBytes: 3 });
});

test('a grant whose file arrived and is used can be repeated: the same address, and a URL that takes the file again', async () => {
  const world = createWorld(management);
  const changes = { filename: 'one.mp3', filesize: 3 };
  const { resource: upload } = await grantAs(world, 'retry-2', changes);
  const put = async () => (await fetch(await sign(world, upload), { method: 'PUT', body: 'abc' })).status;
  expect(await put()).toBe(200);
  await receive(world, upload);
  const again = await grantAs(world, 'retry-2', changes);
  expect(again.resource).toMatchObject({
    id: upload.id,
    lifecycle_state: 'received',
    attributes: { file_url: upload.attributes['file_url'] },
  });
  expect(await put()).toBe(200);
  management.aheadMs = 30 * 24 * hour;
  await sign(world, upload);
});

test('parts of a multipart upload are signed while it is open, in its own workspace, and never when it arrived', async () => {
  const world = createWorld(management);
  const { resource: upload } = await grantAs(world, newId('req'), { filename: 'one.wav', filesize: 40_000_000 });
  const {
    upload_key: key,
    multipart_upload_id: id,
    part_size: partSize,
  } = upload.attributes['multipart'] as {
    upload_key: string;
    multipart_upload_id: string;
    part_size: number;
  };
  expect(partSize).toBe(31_457_280);
  const failed = { code: 'validation_failed', message: 'URL generation failed' };
  expect((await signer().signPart(world.workspaceId, key, id, 1)).url).toContain('partNumber=1');
  await expect(signer().signPart(world.workspaceId, key, id, 10_001)).rejects.toMatchObject(failed);
  await expect(signer().signPart(createWorld(management).workspaceId, key, id, 1)).rejects.toMatchObject(failed);
  await expect(signer().signCompletion(world.workspaceId, key, 'another')).rejects.toMatchObject(failed);
  await receive(world, upload);
  await expect(signer().signPart(world.workspaceId, key, id, 1)).rejects.toMatchObject(failed);
});

test('a URL takes as many bytes as were declared, and no other number; without a size any', async () => {
  const world = createWorld(management);
  const put = async (changes: Record<string, unknown>, body: string) => {
    const { resource } = await grantAs(world, newId('req'), { filename: 'one.mp3', ...changes });
    const { status } = await fetch(await sign(world, resource), { method: 'PUT', body });
    return [status, (await management.store.find(String(resource.attributes['storage_key'])))?.sizeBytes];
  };
  expect(await put({ filesize: 10 }, 'x'.repeat(60_000))).toEqual([403, undefined]);
  expect(await put({ filesize: 10 }, 'x'.repeat(9))).toEqual([403, undefined]);
  expect(await put({ filesize: 10 }, 'x'.repeat(10))).toEqual([200, 10]);
  expect(await put({}, 'x'.repeat(60_000))).toEqual([200, 60_000]);
});

test('each part has the size that the file gives it, and none is signed once the parts are joined', async () => {
  const world = createWorld(management);
  const filesize = 31_457_280 + 5;
  const { resource } = await grantAs(world, newId('req'), { filename: 'one.wav', filesize });
  const { upload_key: key, multipart_upload_id: id } = resource.attributes['multipart'] as Record<string, string>;
  const part = async (number: number, body: Buffer) => {
    const { url } = await signer().signPart(world.workspaceId, key!, id!, number);
    const answer = await fetch(url, { method: 'PUT', body });
    return [answer.status, answer.headers.get('etag')];
  };
  const failed = { code: 'validation_failed', message: 'URL generation failed' };
  expect(await part(2, Buffer.alloc(6))).toEqual([403, null]);
  await expect(signer().signPart(world.workspaceId, key!, id!, 3)).rejects.toMatchObject(failed);
  const [[, first], [, last]] = [await part(1, Buffer.alloc(31_457_280)), await part(2, Buffer.alloc(5))];
  const list = [first, last].map(
    (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
  );
  const { url } = await signer().signCompletion(world.workspaceId, key!, id!);
  const body = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
  expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
  expect(await management.store.find(key!)).toMatchObject({ sizeBytes: filesize });
  await expect(signer().signPart(world.workspaceId, key!, id!, 1)).rejects.toMatchObject(failed);
});

/** A production of this upload, and the text of the bytes that it would be encoded from. */
async function produce(world: World, upload: ResourceView) {
  const production = await users[0]![1](world, upload);
  const bytes = await buffer(await management.store.get(String(production.attributes['storage_key'])));
  return { production, text: bytes.toString() };
}

test('a PUT may be repeated until the file is used; what is sent later changes nothing that was made of it', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const { resource: upload } = await grantAs(world, newId('req'), { filename: 'one.mp3', filesize: 3 });
  const url = await sign(world, upload);
  const put = async (body: string, type = 'audio/mpeg') =>
    (await fetch(url, { method: 'PUT', body, headers: { 'content-type': type } })).status;
  expect(await put('one')).toBe(200);
  // Refused, so not a use.
  await expect(
    world.send('media_clip.register', null, {
      episode_id: (await world.episode()).id,
      file_format: 'mp3',
      url: upload.attributes['file_url'],
      duration_ms: 1000,
    }),
  ).rejects.toMatchObject({ code: 'validation_failed' });
  expect(await put('two', 'text/html')).toBe(200);
  await expect(produce(world, upload)).rejects.toMatchObject({ code: 'upload_not_received' });
  expect(await put('two')).toBe(200);
  const { production, text } = await produce(world, upload);
  expect(text).toBe('two');

  expect(await put('bad')).toBe(200);
  const started = await world.send('production.start', production, {});
  const { rows } = await management.pool.query('select input from job where subject_id = $1', [started.id]);
  const { storage_key: key, source_etag: etag } = rows[0].input;
  expect((await buffer(await management.store.get(key))).toString()).toBe('two');
  expect((await management.store.find(key))?.etag).toBe(etag);
  expect((await produce(world, upload)).text).toBe('two');
  const { url: download } = await signer().signDownload(world.workspaceId, upload.id);
  expect(await (await fetch(download)).text()).toBe('two');

  const received = await receive(world, upload);
  expect(received.attributes['storage_key']).toBe(key);
  expect(await put('bad')).toBe(200);
  expect((await produce(world, upload)).text).toBe('two');
});

test('uses of one upload at the same moment as a PUT are all of the same bytes, ten times', async () => {
  const world = createWorld(management);
  for (let round = 0; round < 10; round++) {
    const upload = await world.upload('one.mp3', Buffer.from('abc'));
    const episodes = [await world.episode(), await world.episode(), await world.episode()];
    const url = await sign(world, upload);
    const uses = await Promise.allSettled([
      ...episodes.map(({ id: episode_id }) =>
        world.send('production.create', null, { episode_id, file_url: upload.attributes['file_url'] }),
      ),
      fetch(url, { method: 'PUT', body: 'xyz', headers: { 'content-type': 'audio/mpeg' } }),
    ]);
    const keys = uses.flatMap((use) =>
      use.status === 'fulfilled' && 'attributes' in use.value ? [use.value.attributes['storage_key']] : [],
    );
    keys.push((await produce(world, upload)).production.attributes['storage_key']);
    expect(new Set(keys).size).toBe(1);
    for (const use of uses)
      if (use.status === 'rejected') expect(use.reason).toMatchObject({ code: 'temporarily_unavailable' });
  }
});

test('no URL outlives its upload: one that is about to end is not signed', async () => {
  const world = createWorld(management);
  const unused = await world.upload();
  const temporary = await world.upload('two.mp3', Buffer.from('abc'), 'temporary');
  await receive(world, temporary);
  for (const upload of [unused, temporary]) {
    management.aheadMs = 22 * hour;
    await sign(world, upload);
    management.aheadMs = 23.5 * hour;
    await expect(sign(world, upload)).rejects.toMatchObject({
      code: 'validation_failed',
      message: 'This upload has ended. Use another idempotency key for a new one.',
    });
  }
});

test('the clock ends what nothing used after 24 h, and the object goes with a temporary one; a used public file stays', async () => {
  const world = createWorld(management);
  const unused = await world.upload();
  const temporary = await world.upload('two.mp3', Buffer.from('abc'), 'temporary');
  const used = await world.upload();
  const secret = await world.upload('three.mp3', Buffer.from('abc'), 'private');
  for (const upload of [temporary, used, secret]) await receive(world, upload);
  const all = [unused, temporary, used, secret];
  expect(await passTime(24 * hour - 60_000)).toEqual([]);
  expect(await Promise.all(all.map(({ id }) => stateOf(id)))).toEqual(['granted', 'received', 'received', 'received']);
  expect(await passTime(24 * hour)).toEqual([]);
  expect(await Promise.all(all.map(({ id }) => stateOf(id)))).toEqual(['expired', 'expired', 'received', 'received']);
  await expect(sign(world, unused)).rejects.toMatchObject({ code: 'validation_failed' });
});

const users: readonly (readonly [string, (world: World, upload: ResourceView) => Promise<ResourceView>])[] = [
  [
    'a production',
    async (world, upload) =>
      world.send('production.create', null, {
        episode_id: (await world.episode()).id,
        file_url: upload.attributes['file_url'],
      }),
  ],
  [
    'a clip',
    async (world, upload) =>
      world.send('media_clip.register', null, {
        episode_id: (await world.episode()).id,
        file_format: 'mp3',
        url: upload.attributes['file_url'],
        duration_ms: 1000,
      }),
  ],
  [
    'an artwork',
    async (world, upload) =>
      world.send('podcast.revise', await world.podcast(), { artwork_url: upload.attributes['file_url'] }),
  ],
  [
    'an intro',
    async (world, upload) =>
      world.send('podcast.set_intro', await world.podcast(), { file_url: upload.attributes['file_url'] }),
  ],
  [
    'a chapter image',
    async (world, upload) =>
      world.send('episode.set_chapters', await world.episode(), {
        chapters: [{ start_ms: 0, title: 'One', image_url: upload.attributes['file_url'] }],
      }),
  ],
  [
    'a creative',
    async (world, upload) => world.send('creative.attach_media', await world.creative(), { upload_ref: upload.id }),
  ],
];

test.each(users)('an upload that %s uses does not end, even before it is marked', async (_user, use) => {
  const world = createWorld(management);
  const upload = await world.upload('one.mp3', Buffer.from('ID3'));
  await use(world, upload);
  expect(await dueIds()).not.toContain(upload.id);
  expect(await passTime(25 * hour)).toEqual([]);
  expect(await stateOf(upload.id)).toBe('received');
  expect(await dueIds()).not.toContain(upload.id);
});

const asGuest = (guest: World): Actor =>
  guest.actor.kind === 'principal' ? { ...guest.actor, roles: ['owner'] } : guest.actor;

const uses: readonly (readonly [string, (owner: World, fileUrl: unknown, as: Actor) => Promise<ResourceView>])[] = [
  [
    'a production',
    async (owner, file_url, as) =>
      owner.send('production.create', null, { episode_id: (await owner.episode()).id, file_url }, as),
  ],
  [
    'a clip',
    async (owner, url, as) =>
      owner.send(
        'media_clip.register',
        null,
        { episode_id: (await owner.episode()).id, file_format: 'mp3', url, duration_ms: 1000 },
        as,
      ),
  ],
  [
    'an artwork',
    async (owner, artwork_url, as) => owner.send('podcast.revise', await owner.podcast(), { artwork_url }, as),
  ],
  ['an outro', async (owner, file_url, as) => owner.send('podcast.set_outro', await owner.podcast(), { file_url }, as)],
];

test.each(uses)(
  "a collaborator's upload that %s of the owner uses neither ends nor is given up",
  async (_user, use) => {
    const owner = createWorld(management);
    const guest = createWorld(management);
    const upload = await guest.upload('one.mp3', Buffer.from('ID3'));
    await use(owner, upload.attributes['file_url'], asGuest(guest));
    const inUse = { code: 'state_not_allowed', message: 'The file is in use.' };
    await expect(guest.send('upload.expire', upload, {}, service('management'))).rejects.toMatchObject(inUse);
    await expect(guest.send('upload.abort', upload, {})).rejects.toMatchObject(inUse);
    await passTime(25 * hour);
    expect(await stateOf(upload.id)).toBe('received');
  },
);

test('what a stranger writes about an upload, or an address elsewhere that holds its id, does not keep it', async () => {
  const victim = createWorld(management);
  const stranger = createWorld(management);
  const upload = await victim.upload();
  const { file_url: url, storage_key: key } = upload.attributes;
  const description = `${String(url)} "storage_key": "${String(key)}" "upload_id": "${upload.id}"`;
  await stranger.send('podcast.revise', await stranger.podcast(), { description });
  await stranger.send('episode.set_chapters', await stranger.episode(), {
    chapters: [{ start_ms: 0, title: 'One', image_url: url }],
  });
  await victim.send('podcast.revise', await victim.podcast(), {
    description: `${upload.id} https://other.example/${upload.id}/one.mp3 "storage_key": "${upload.id}"`,
  });
  await passTime(25 * hour);
  expect(await stateOf(upload.id)).toBe('expired');
});

test.each(users)('an upload that %s uses is not given up; once that has ended, it may be', async (_user, use) => {
  const world = createWorld(management);
  const upload = await world.upload('one.mp3', Buffer.from('ID3'));
  const user = await use(world, upload);
  await expect(world.send('upload.abort', upload, {})).rejects.toMatchObject({
    code: 'state_not_allowed',
    message: 'The file is in use.',
  });
  await management.pool.query("update job set state = 'done' where subject_id = $1", [user.id]);
  await management.pool.query('update resource set lifecycle_state = $2 where id = $1', [
    user.id,
    ['podcasts', 'episodes', 'creatives'].includes(user.resource_type) ? 'archived' : 'deleted',
  ]);
  expect(await world.send('upload.abort', upload, {})).toMatchObject({ lifecycle_state: 'aborted' });
});

test('a file is given up after its encoding failed, but not while another production reads it', async () => {
  const world = createWorld(management);
  const upload = await world.upload();
  await world.setEncodingLimit(null);
  const [failing, reading] = [await users[0]![1](world, upload), await users[0]![1](world, upload)];
  const problem = { code: 'media_truncated', detail: 'The file ends early.' };
  const fail = async (production: ResourceView) => {
    const started = await world.send('production.start', production, {});
    const lease = await world.lease('encode_production', started.id);
    await world.send('production.fail', started, { problem }, service('encoder'), lease);
  };
  await fail(failing);
  await expect(world.send('upload.abort', upload, {}, service('management'))).rejects.toMatchObject({
    code: 'state_not_allowed',
  });
  await fail(reading);
  expect(await world.send('upload.abort', upload, {}, service('management'))).toMatchObject({
    lifecycle_state: 'aborted',
  });
});

test('what used an upload and has ended does not keep it', async () => {
  const world = createWorld(management);
  const upload = await world.upload();
  await world.send('production.delete', await users[0]![1](world, upload), {});
  await passTime(25 * hour);
  expect(await stateOf(upload.id)).toBe('expired');
});

test('a temporary file stays as long as an encoder reads it, and no longer', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const upload = await world.upload('one.mp3', Buffer.from('abc'), 'temporary');
  const production = await world.send('production.start', await users[0]![1](world, upload), {});
  await receive(world, upload);
  await passTime(25 * hour);
  expect(await stateOf(upload.id)).toBe('received');
  expect(await dueIds()).not.toContain(upload.id);
  management.aheadMs = 0;
  const lease = await world.lease('encode_production', production.id);
  await world.send('production.complete', production, world.completion, service('encoder'), lease);
  await passTime(25 * hour);
  expect(await stateOf(upload.id)).toBe('expired');
});

test('an upload never ends under a production that is created at the same moment, ten times', async () => {
  const world = createWorld(management);
  for (let round = 0; round < 10; round++) {
    const upload = await world.upload();
    const episode = await world.episode();
    await Promise.allSettled([
      world.send('production.create', null, { episode_id: episode.id, file_url: upload.attributes['file_url'] }),
      world.send('upload.expire', upload, {}, service('management')),
    ]);
    const productions = await listInStates(management.pool, world.workspaceId, 'productions', ['initial']);
    const isUsed = productions.some(({ attributes }) => attributes['upload_id'] === upload.id);
    expect([isUsed, await stateOf(upload.id)]).toEqual(isUsed ? [true, 'granted'] : [false, 'expired']);
  }
});

test('a row that stays costs the clock nothing: both tasks read their own index', async () => {
  const client = await management.pool.connect();
  try {
    await client.query('set enable_seqscan = off');
    for (const [which, index] of [
      [`lifecycle_state = 'granted'`, 'resource_unused_upload'],
      [`lifecycle_state = 'received' and attributes ->> 'upload_type' = 'temporary'`, 'resource_temporary_upload'],
    ]) {
      const { rows } = await client.query(
        `explain select id from resource where resource_type = 'uploads' and ${which} and created_at <= now() order by created_at limit 100`,
      );
      expect(JSON.stringify(rows)).toContain(index);
    }
  } finally {
    client.release(true);
  }
});

test('who uses an upload, and which job reads it, is found by an index', async () => {
  const client = await management.pool.connect();
  try {
    const upload = await createWorld(management).upload();
    const planOf = async (text: string) => JSON.stringify((await client.query(`explain ${text}`)).rows);
    expect(await planOf(`select ${isUsed} from resource x where x.id = '${upload.id}'`)).toContain(
      'resource_upload_use',
    );
    await client.query('set enable_seqscan = off');
    expect(await planOf(`select ${isRead} from resource x where x.id = '${upload.id}'`)).toContain('job_reading');
  } finally {
    client.release(true);
  }
});
