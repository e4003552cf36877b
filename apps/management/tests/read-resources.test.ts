import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import { createResourceReader, type ResourceReader } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import { startTestManagement, type TestManagement } from './_management.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
let reader: ResourceReader;
let now = new Date();
beforeAll(async () => {
  management = await startTestManagement();
  reader = createResourceReader({
    pool: management.pool,
    schema: 'product',
    catalog: productCatalog,
    cursorKey: randomBytes(32),
    clock: () => now,
  });
});
afterAll(async () => {
  await reader[Symbol.asyncDispose]();
  await management[Symbol.asyncDispose]();
});

test('pages hold every row once, in order of creation, and a cursor belongs to its own listing', async () => {
  const world = createWorld(management);
  const created = [];
  for (let i = 0; i < 7; i++) created.push((await world.podcast()).id);
  const query = { scopes: [{ workspaceId: world.workspaceId }], resourceType: 'podcasts', limit: 3 };
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await reader.listResources({ ...query, ...(cursor && { cursor }) });
    seen.push(...page.resources.map(({ id }) => id));
    cursor = page.nextCursor;
    if (cursor) {
      const foreign = { ...query, scopes: [{ workspaceId: newId('ws') }], cursor };
      await expect(reader.listResources(foreign)).rejects.toMatchObject({ code: 'invalid_cursor' });
      await expect(reader.listResources({ ...query, lifecycleStates: ['draft'], cursor })).rejects.toMatchObject({
        code: 'invalid_cursor',
      });
    }
  } while (cursor);
  expect(seen).toEqual(created);
});

test('a listing is sorted and filtered by time of change and by title, and pages hold every row of it once', async () => {
  const world = createWorld(management);
  const created = [];
  for (let i = 0; i < 5; i++) created.push(await world.podcast());
  const revised = await world.send('podcast.revise', created[1]!, { title: 'Zebra Crossing' });
  const query = { scopes: [{ workspaceId: world.workspaceId }], resourceType: 'podcasts', limit: 2 };
  const idsOf = async (chosen: Partial<Parameters<ResourceReader['listResources']>[0]>) => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await reader.listResources({ ...query, ...chosen, ...(cursor && { cursor }) });
      ids.push(...page.resources.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor);
    return ids;
  };
  const ids = created.map(({ id }) => id);
  expect(await idsOf({ sort: '-created_at' })).toEqual(ids.toReversed());
  const others = ids.filter((id) => id !== revised.id);
  expect(await idsOf({ sort: 'updated_at' })).toEqual([...others, revised.id]);
  expect(await idsOf({ sort: '-updated_at' })).toEqual([revised.id, ...others.toReversed()]);
  expect(await idsOf({ updatedSince: new Date(revised.updated_at) })).toEqual([revised.id]);
  expect(await idsOf({ titleContains: 'zebra' })).toEqual([revised.id]);
  const { nextCursor } = await reader.listResources({ ...query, sort: 'updated_at' });
  await expect(reader.listResources({ ...query, cursor: nextCursor! })).rejects.toMatchObject({
    code: 'invalid_cursor',
  });
});

test('a cursor ends after 24 hours', async () => {
  const world = createWorld(management);
  for (let i = 0; i < 2; i++) await world.podcast();
  const query = { scopes: [{ workspaceId: world.workspaceId }], resourceType: 'podcasts', limit: 1 };
  const { nextCursor } = await reader.listResources(query);
  now = new Date(now.getTime() + 25 * 3600_000);
  await expect(reader.listResources({ ...query, cursor: nextCursor! })).rejects.toMatchObject({
    code: 'invalid_cursor',
  });
});

test('history keeps every version, newest first, and links find the children of a parent', async () => {
  const world = createWorld(management);
  const episode = await world.episode();
  await world.send('episode.revise', episode, { title: 'Two' });
  const { versions } = await reader.listVersions({
    workspaceId: world.workspaceId,
    resourceType: 'episodes',
    id: episode.id,
  });
  expect(versions.map(({ version, attributes }) => [version, attributes['title']])).toEqual([
    [2, 'Two'],
    [1, 'One'],
  ]);
  const children = await reader.listResources({
    scopes: [{ workspaceId: world.workspaceId }],
    resourceType: 'episodes',
    links: { podcast: String(episode.attributes['podcast_id']) },
  });
  expect(children.resources.map(({ id }) => id)).toEqual([episode.id]);
});

test('another workspace reads nothing: resource, versions, operation and receipt are the 404 of a missing one', async () => {
  const world = createWorld(management);
  const podcast = await world.podcast();
  const operationId = podcast.updated_by.operation_id;
  const stranger = newId('ws');
  const { receipt_id: receiptId } = await reader.getOperation(world.workspaceId, operationId);
  expect((await reader.getReceipt(world.workspaceId, receiptId)).jws.split('.')).toHaveLength(3);
  const reads = [
    (id: string) => reader.getResource(stranger, 'podcasts', id),
    (id: string) => reader.listVersions({ workspaceId: stranger, resourceType: 'podcasts', id }),
    (id: string) => reader.readVersion({ workspaceId: stranger, resourceType: 'podcasts', id }, 1),
  ];
  for (const read of reads) {
    const messages = await Promise.all(
      [podcast.id, 'pod_0000000000000000000000000z'].map((id) =>
        read(id).catch((error: Error) => error.message.replace(id, 'ID')),
      ),
    );
    expect(messages[0]).toBe(messages[1]);
  }
  await expect(reader.getOperation(stranger, operationId)).rejects.toMatchObject({ code: 'not_found' });
  await expect(reader.getReceipt(stranger, receiptId)).rejects.toMatchObject({ code: 'not_found' });
});
