import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { startTestManagement, type TestManagement } from './_management.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

test.each([
  ['a NUL', 'a\u0000b'],
  ['a bell', 'a\u0007b'],
  ['half a surrogate pair', 'a\ud800b'],
])('%s in a text is refused by field, before anything is stored', async (_name, title) => {
  const world = createWorld(management);
  await expect(world.send('podcast.create', null, { title, language: 'en' })).rejects.toMatchObject({
    code: 'validation_failed',
    context: {
      errors: expect.arrayContaining([expect.objectContaining({ path: '/changes/title', code: 'illegal_text' })]),
    },
  });
});

test('property names of every object are no commands, resource types or file extensions', async () => {
  const world = createWorld(management);
  const request = {
    workspaceId: world.workspaceId,
    idempotencyKey: newId('req'),
    subject: { type: 'podcasts', id: null },
    changes: {},
  };
  for (const commandType of ['constructor', '__proto__', 'toString'])
    await expect(management.execute({ ...request, commandType: commandType }, world.actor)).rejects.toMatchObject({
      code: 'unknown_command',
    });
  await expect(world.send('upload.grant', null, { filename: 'x.constructor', filesize: 40_000_000 })).rejects.toThrow(
    'Unsupported content type',
  );
});

test('a stale version is refused before an encoder is asked', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const production = await world.production();
  const probes = management.probes;
  await expect(world.send('production.start', { ...production, version: 7 }, {})).rejects.toMatchObject({
    code: 'version_conflict',
  });
  expect(management.probes).toBe(probes);
});

test('a production whose file is missing or whose upload has ended cannot start', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const gone = await world.production();
  const { rows } = await management.pool.query<{ key: string }>(
    "select attributes->>'storage_key' as key from resource where id = any($1)",
    [[gone.id, gone.attributes['upload_id']]],
  );
  for (const { key } of rows) await management.store.remove(key);
  await expect(world.send('production.start', gone, {})).rejects.toMatchObject({
    code: 'upload_not_received',
    status: 422,
  });
  const aborted = await world.production();
  await management.pool.query("update resource set lifecycle_state = 'aborted' where id = $1", [
    aborted.attributes['upload_id'],
  ]);
  await expect(world.send('production.start', aborted, {})).rejects.toMatchObject({ code: 'upload_not_received' });
});

test('a command whose deadline has passed does not begin', async () => {
  const world = createWorld(management);
  const request = {
    workspaceId: world.workspaceId,
    commandType: 'podcast.create',
    idempotencyKey: newId('req'),
    subject: { type: 'podcasts', id: null },
    changes: { title: 'A', language: 'en' },
    deadline: new Date(Date.now() - 1),
  };
  await expect(management.execute(request, world.actor)).rejects.toMatchObject({ code: 'timeout' });
  expect(
    (await management.pool.query('select 1 from resource where workspace_id = $1', [world.workspaceId])).rowCount,
  ).toBe(0);
});

test('a published podcast keeps the attributes that directories require; a draft may lose them', async () => {
  const world = createWorld(management);
  const published = await world.send('podcast.publish', await world.readyPodcast(), {});
  await expect(world.send('podcast.revise', published, { description: ' ' })).rejects.toMatchObject({
    code: 'podcast_not_ready',
  });
  await world.send('podcast.revise', published, { description: 'Another one.' });
  await world.send('podcast.revise', await world.readyPodcast(), { description: '' });
});

test('a line item that is paid by views needs a price', async () => {
  const world = createWorld(management);
  const changes = world.lineItemChanges((await world.campaign()).id);
  await expect(world.send('line_item.create', null, { ...changes, rate: { model: 'cpm' } })).rejects.toMatchObject({
    code: 'validation_failed',
  });
});
