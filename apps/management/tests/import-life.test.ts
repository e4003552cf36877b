import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { ExecuteCommand } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import { feed, simpleItem, startImportHost, type ImportHost } from './_import-host.ts';
import { createWorld } from './_world.ts';

let host: ImportHost;
let management: ImportHost['management'];
let origin: ImportHost['origin'];
let pages: ImportHost['pages'];
let asked: ImportHost['asked'];
let send: ImportHost['send'];
let runner: ImportHost['runner'];
let podcastOf: ImportHost['podcastOf'];
let jobState: ImportHost['jobState'];
let episodesOf: ImportHost['episodesOf'];
let productionsOf: ImportHost['productionsOf'];
let imported: ImportHost['imported'];
beforeAll(async () => {
  host = await startImportHost();
  ({ management, origin, pages, asked, send, runner, podcastOf, jobState, episodesOf, productionsOf, imported } = host);
});
afterAll(async () => host?.[Symbol.asyncDispose]());
afterEach(() => host.clear());

test('a podcast is imported once, even by two requests at the same moment', async () => {
  pages.set('/once.xml', { body: feed(`<title>Once</title>`, simpleItem(1)) });
  const world = createWorld(management);
  const both = await Promise.allSettled([send(world, '/once.xml'), send(world, '/once.xml')]);
  expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const refused = both.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
  expect(refused.reason).toMatchObject({ code: 'value_taken' });
  const made = (both.find(({ status }) => status === 'fulfilled') as PromiseFulfilledResult<ResourceView>).value;
  await world.send('podcast.archive', made, {});
  await send(world, '/once.xml');
});

test('slow feeds of one workspace delay no import of another', async () => {
  const { promise: after, resolve: answer } = Promise.withResolvers<void>();
  const slow = createWorld(management);
  const paths = Array.from({ length: 5 }, (_v, n) => `/slow-${n}.xml`);
  for (const path of paths) pages.set(path, { body: feed(`<title>${path}</title>`, simpleItem(1)), after });
  const waiting = paths.map((path) => send(slow, path).catch((error: unknown) => error));
  await until(async () => asked.some((path) => paths.includes(path)));
  pages.set('/quick.xml', { body: feed('<title>Quick</title>', simpleItem(1)) });
  expect((await send(createWorld(management), '/quick.xml')).attributes['title']).toBe('Quick');
  expect(asked.filter((path) => paths.includes(path))).toHaveLength(1);
  answer();
  await Promise.all(waiting);
});

test('an import that is killed again and again ends with every episode once', async () => {
  const count = 12;
  pages.set('/resume.xml', {
    body: feed('<title>Resume</title>', Array.from({ length: count }, (_v, n) => simpleItem(count - n)).join('')),
  });
  const accepted = await send(createWorld(management), '/resume.xml');
  // A process that dies leaves commands half way: some committed, their answer lost.
  let commands = 0;
  const dying: ExecuteCommand = async (request, actor) => {
    const outcome = await management.execute(request, actor);
    if (outcome.replayed) return outcome;
    commands += 1;
    if (commands % 7 === 0) throw new Error('killed');
    return outcome;
  };
  await using running = runner(dying);
  await until(async () => (await jobState(accepted)) === 'done');
  expect(running.errors.length).toBeGreaterThan(2);
  const episodes = await episodesOf(accepted);
  expect(new Set(episodes.map(({ attributes }) => attributes['guid']))).toHaveProperty('size', count);
  expect(episodes).toHaveLength(count);
  for (const episode of episodes) expect(await productionsOf(episode)).toHaveLength(1);
  expect((await podcastOf(accepted)).attributes['import']).toMatchObject({ done: count, failed: 0 });
});

test('a service that stops in the middle goes on after its start, without fetching the feed again', async () => {
  const count = 20;
  pages.set('/stop.xml', {
    body: feed('<title>Stop</title>', Array.from({ length: count }, (_v, n) => simpleItem(count - n)).join('')),
  });
  const accepted = await send(createWorld(management), '/stop.xml');
  const first = runner();
  await until(async () => (await episodesOf(accepted)).length >= 3);
  await first[Symbol.asyncDispose]();
  expect((await episodesOf(accepted)).length).toBeLessThan(count);
  await using _second = runner();
  await until(async () => (await jobState(accepted)) === 'done');
  expect(await episodesOf(accepted)).toHaveLength(count);
  expect(asked).toEqual(['/stop.xml']);
});

test('an archived podcast gets no further episodes', async () => {
  pages.set('/archive.xml', { body: feed('<title>Archive</title>', simpleItem(2) + simpleItem(1)) });
  const world = createWorld(management);
  const accepted = await send(world, '/archive.xml');
  await world.send('podcast.archive', accepted, {});
  await using running = runner();
  await until(async () => (await jobState(accepted)) === 'stopped');
  expect(running.errors).toEqual([]);
  expect(await episodesOf(accepted)).toEqual([]);
});

test('a cancelled import stops between two items and keeps the episodes that it created', async () => {
  const count = 20;
  pages.set('/cancel.xml', {
    body: feed('<title>Cancel</title>', Array.from({ length: count }, (_v, n) => simpleItem(count - n)).join('')),
  });
  const world = createWorld(management);
  const accepted = await send(world, '/cancel.xml');
  await using running = runner();
  await until(async () => (await episodesOf(accepted)).length >= 3);
  await world.send('podcast.cancel_import', accepted, {});
  const made = (await episodesOf(accepted)).length;
  expect(await jobState(accepted)).toBe('stopped');
  await running[Symbol.asyncDispose]();
  // The item that was under way is finished.
  expect((await episodesOf(accepted)).length).toBeLessThanOrEqual(made + 1);
  expect(made).toBeLessThan(count);
});

test('a host that breaks off gets no further requests for small files after a few failures', async () => {
  const extras = (n: number) => `<podcast:transcript url="${origin}/torn-${n}.vtt" type="text/vtt"/>`;
  for (let n = 0; n < 8; n++) pages.set(`/torn-${n}.vtt`, { body: '', torn: true });
  pages.set('/extras.xml', {
    body: feed('<title>Extras</title>', Array.from({ length: 8 }, (_v, n) => simpleItem(n, extras(n))).join('')),
  });
  const { podcast } = await imported('/extras.xml');
  expect(podcast.import).toMatchObject({ done: 8, failed: 0 });
  expect(asked.filter((path) => path.startsWith('/torn'))).toHaveLength(3);
});

test('the answer to an import names a podcast that is followed to its end by the operation', async () => {
  pages.set('/op.xml', { body: feed('<title>Op</title>', simpleItem(1)) });
  const world = createWorld(management);
  const { status, operationJson } = await management.execute(
    {
      workspaceId: world.workspaceId,
      commandType: 'podcast.import_feed',
      idempotencyKey: newId('req'),
      subject: { type: 'podcasts', id: null },
      changes: { feed_url: `${origin}/op.xml` },
    },
    world.actor,
  );
  expect(status).toBe(202);
  const { id } = JSON.parse(operationJson) as { id: string };
  await using _running = runner();
  await until(
    async () =>
      (await management.pool.query<{ state: string }>('select state from operation where id = $1', [id])).rows[0]
        ?.state === 'succeeded',
  );
});
