import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { listInStates, type Actor } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { startClock } from '../src/background/clock.ts';
import type { DueTask } from '../src/background/due-task.ts';
import { uploadTasks } from '../src/workspace/uploads/expire-uploads.ts';
import { isRead, isUsed } from '../src/workspace/uploads/upload-use-table.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { guestIn, hour, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';
import { produceFrom, uploadsOf } from './_uploads.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
beforeEach(() => {
  management.aheadMs = 0;
});
afterAll(async () => management[Symbol.asyncDispose]());

const { sign, receive } = uploadsOf(() => management);

const stateOf = async (id: string): Promise<string> =>
  (await management.pool.query('select lifecycle_state from resource where id = $1', [id])).rows[0].lifecycle_state;

/** Ids of the uploads that are due now. */
const dueIds = async () =>
  (await Promise.all(uploadTasks.map((task) => task.findDue(management.pool, management.clock(), 100_000))))
    .flat()
    .map(({ id }) => id);

/** Lets the clock poll once at a future time, and returns the ids that it could not end. */
async function passTime(ms: number): Promise<readonly (string | undefined)[]> {
  management.aheadMs = ms;
  const refused: (string | undefined)[] = [];
  const again = uploadTasks.map(() => Promise.withResolvers<void>());
  // When a task polls again, it has handled what its first poll found.
  const watched = uploadTasks.map((task, index): DueTask => {
    let polls = 0;
    return {
      ...task,
      findDue: async (...args) => {
        if (polls++ > 0) again[index]!.resolve();
        return task.findDue(...args);
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

test('the clock ends unused and temporary uploads after 24 h and removes their objects; a used public file stays', async () => {
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
  ['a production', produceFrom],
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
    await use(owner, upload.attributes['file_url'], guestIn(owner.workspaceId, guest.actor, ['owner']));
    const inUse = { code: 'state_not_allowed', message: 'The file is in use.' };
    await expect(guest.send('upload.expire', upload, {}, service('management'))).rejects.toMatchObject(inUse);
    await expect(guest.send('upload.abort', upload, {})).rejects.toMatchObject(inUse);
    await passTime(25 * hour);
    expect(await stateOf(upload.id)).toBe('received');
  },
);

test('text of a stranger about an upload, or an address of another host with its id, does not keep it', async () => {
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

test('a resource that has ended does not keep its upload', async () => {
  const world = createWorld(management);
  const upload = await world.upload();
  await world.send('production.delete', await users[0]![1](world, upload), {});
  await passTime(25 * hour);
  expect(await stateOf(upload.id)).toBe('expired');
});

test('a temporary file stays until the encoder has read it, and no longer', async () => {
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

test('an upload that stays costs the clock nothing: both tasks read an index of their own', async () => {
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

test('the resources and jobs that use an upload are found by an index', async () => {
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
