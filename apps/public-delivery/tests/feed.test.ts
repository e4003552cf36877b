import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { listenHttp } from '@longwave/http-kit';
import { newId } from '@longwave/ids';
import { createPool } from '@longwave/postgres';
import { sha256, until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { createDocumentCache } from '../src/feeds/document-cache.ts';
import { createFindFeed } from '../src/feeds/find-feed.ts';
import { feedRoutes } from '../src/feeds/feed-routes.ts';
import { createRouter } from '../src/http/route.ts';
import { apply, next } from './_apply.ts';
import { askAt, channelOf, itemsOf } from './_ask.ts';
import { audio, eventOf, frameBytes, makeShow, openBench, publishEvents, showOf, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);
const showOfNothing = () => showOf({ digest: sha256(Buffer.from(newId('pro'))), sizeBytes: 384_000 });

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});
beforeEach(() => bench.setClock(undefined));

/** An applied show, and its feed. */
async function shown(podcastAttributes: Record<string, unknown> = {}) {
  const show = showOfNothing();
  const podcast = next(show.events.podcast, podcastAttributes, { by: 0 });
  await apply(bench, podcast, show.events.episode, show.events.production);
  const path = `/feeds/${show.subdomain}.xml`;
  return { ...show, events: { ...show.events, podcast }, path, feed: (headers = {}) => ask(path, headers) };
}

test.each([
  ['podcast', 'episode', 'production'],
  ['production', 'episode', 'podcast'],
  ['episode', 'production', 'podcast'],
] as const)('events may arrive as %s, %s, %s', async (...order) => {
  const show = await makeShow(bench.store, audio(100));
  await publishEvents(
    bench.bus,
    order.map((name) => show.events[name]),
  );
  const item = await until(async () => {
    const feed = await ask(`/feeds/${show.subdomain}.xml`);
    return feed.status === 200 && itemsOf(feed.body)[0];
  });
  // The tag and the Info frame come first.
  const length = String(1024 + frameBytes + show.content.length);
  expect(item.enclosure).toMatchObject({ '@_length': length, '@_type': 'audio/mpeg' });
  expect(item.enclosure['@_url']).toMatch(/^http:\/\/media\.test\/delivery\/v1\/e\/t1\.[\w-]{100}\/one-the-groe\.mp3$/);
  expect(item['itunes:duration']).toBe('2');
});

test('a podcast without a page of its own names one here, which shows its texts and runs no script in them', async () => {
  const { feed, subdomain } = await shown({
    link: undefined,
    title: 'Tide <script>alert(1)</script>',
    description: '<p>Boats &amp; <img src=x onerror=alert(1)> lights</p>',
  });
  const page = `http://media.test/site/${subdomain}`;
  expect(channelOf((await feed()).body)['link']).toBe(page);
  const html = (await ask(page)).body.toString();
  expect(html).toContain('<h1>Tide &lt;script&gt;alert(1)&lt;/script&gt;</h1>');
  expect(html).not.toMatch(/onerror|<script>/);
  const named = await shown({ link: 'https://own.example/' });
  expect(channelOf((await named.feed()).body)['link']).toBe('https://own.example/');
});

test('the root is a page that names this address, its documentation and the REST API', async () => {
  const answer = await ask('/');
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  const html = answer.body.toString();
  expect(html).toContain('This is the host of feeds and audio');
  const links = [...html.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href!);
  expect(links).toEqual(['/delivery/v1/contract', 'http://base.test/api-docs']);
  expect((await ask(links[0]!)).status).toBe(200);
  expect((await ask('/', { 'if-none-match': String(answer.headers['etag']) })).status).toBe(304);
  const head = await ask('/', {}, 'HEAD');
  expect([head.status, head.body.length]).toEqual([200, 0]);
  expect((await ask('/', {}, 'POST')).status).toBe(405);
});

test('a repeated or older event changes nothing, and the enclosure stays when key and title change', async () => {
  const { events, feed, episodeId } = await shown();
  const before = await feed();
  const newer = next(events.episode, { title: 'Renamed' }, { at: '2026-11-20T12:00:00.000Z' });
  await apply(bench, newer);
  const after = await feed();
  const [item] = itemsOf(after.body);
  expect([item!.title, item!.enclosure['@_url']]).toEqual(['Renamed', itemsOf(before.body)[0]!.enclosure['@_url']]);
  const stale = eventOf('episodes', episodeId, 3, 'draft', events.episode.after.attributes);
  await apply(bench, events.episode, stale, newer);
  expect((await feed()).headers.etag).toBe(after.headers.etag);
});

test('a change that the feed does not show gives it no new revision', async () => {
  const { events, feed } = await shown();
  const before = await feed();
  const draft = { ...events.episode.after.attributes, guid: 'draft', title: 'Draft' };
  await apply(
    bench,
    eventOf('episodes', newId('ep'), 1, 'draft', draft),
    next(events.podcast, { loudness_target_lufs: -18, collaborators: [{ email: 'a@b.example', role: 'editor' }] }),
    next(events.production, { publication_flag: false }),
    next(events.episode, { batch_encoding_id: newId('bat'), markers: [] }),
  );
  const after = await feed();
  expect([after.headers.etag, after.headers['last-modified']]).toEqual([
    before.headers.etag,
    before.headers['last-modified'],
  ]);
});

describe('the time of change', () => {
  test('is that of the newest event', async () => {
    const { events, feed } = await shown();
    await apply(bench, next(events.episode, { title: 'Renamed' }, { at: '2026-11-20T12:00:00.000Z' }));
    const { headers, body } = await feed();
    expect(headers['last-modified']).toBe('Fri, 20 Nov 2026 12:00:00 GMT');
    expect(channelOf(body)['lastBuildDate']).toBe('Fri, 20 Nov 2026 12:00:00 +0000');
  });

  test('moves with a change that happened before the last one, or within the same second, and is never in the future', async () => {
    const { events, feed } = await shown();
    await apply(bench, next(events.podcast, { title: 'New' }, { at: '2026-11-20T12:00:00.400Z' }));
    for (const [by, at] of [
      [1, '2026-11-20T11:00:00.000Z'],
      [2, '2026-11-20T12:00:00.900Z'],
      [3, '2026-11-20T12:00:00.950Z'],
    ] as const) {
      const known = await feed();
      const since = { 'if-modified-since': known.headers['last-modified']! };
      await apply(bench, next(events.episode, { title: `Version ${by}` }, { at, by }));
      const changed = await feed(since);
      expect([changed.status, itemsOf(changed.body)[0]!.title]).toEqual([200, `Version ${by}`]);
      const modified = Date.parse(changed.headers['last-modified']!);
      expect(modified).toBeLessThanOrEqual(Date.parse(changed.headers.date!));
      expect(modified).toBeGreaterThanOrEqual(Date.parse(known.headers['last-modified']!));
    }
    const settled = await feed();
    bench.setClock(new Date(Date.now() + 2_000));
    const later = await feed();
    expect(later.headers.etag).toBe(settled.headers.etag);
    expect((await feed({ 'if-modified-since': later.headers['last-modified'] })).status).toBe(304);
  });
});

test('each coding has its own strong tag, and a matching one gets 304 without a body', async () => {
  const { path, feed } = await shown();
  const plain = await feed();
  const zipped = await feed({ 'accept-encoding': 'gzip' });
  const brotli = await feed({ 'accept-encoding': 'gzip, deflate, br' });
  expect(plain.headers.etag).toBe(`"${sha256(plain.body)}"`);
  expect([zipped.headers.etag, zipped.headers['content-encoding']]).toEqual([`"${sha256(plain.body)}-gzip"`, 'gzip']);
  expect(gunzipSync(zipped.body)).toEqual(plain.body);
  expect([brotli.headers.etag, brotli.headers['content-encoding']]).toEqual([`"${sha256(plain.body)}-br"`, 'br']);
  expect(brotliDecompressSync(brotli.body)).toEqual(plain.body);
  for (const { headers, body } of [plain, zipped, brotli])
    expect([headers['content-length'], headers.vary, headers['cache-control']]).toEqual([
      String(body.length),
      'Accept-Encoding',
      'public, max-age=60, stale-while-revalidate=300',
    ]);
  const conditions: Record<string, string>[] = [
    { 'if-none-match': plain.headers.etag! },
    { 'if-none-match': zipped.headers.etag!, 'accept-encoding': 'gzip' },
    { 'if-none-match': brotli.headers.etag!, 'accept-encoding': 'br' },
    { 'if-modified-since': plain.headers['last-modified']! },
  ];
  for (const headers of conditions) {
    const again = await feed(headers);
    expect([again.status, again.body.length]).toEqual([304, 0]);
  }
  expect((await feed({ 'if-none-match': zipped.headers.etag! })).status).toBe(200);
  const head = await ask(path, {}, 'HEAD');
  expect([head.status, head.body.length, head.headers['content-length']]).toEqual([200, 0, String(plain.body.length)]);
});

test('another process answers the same tags and times', async () => {
  const { path, feed } = await shown();
  const { headers } = await feed();
  const other = await bench.start({
    CACHE_FOLDER: `${bench.folder}/cache-b`,
    JOURNAL_FOLDER: `${bench.folder}/journal-b`,
  });
  try {
    const answer = await askAt(() => other.port)(path, { 'if-none-match': headers.etag! });
    expect([answer.status, answer.headers['last-modified']]).toEqual([304, headers['last-modified']]);
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test('a feed that was pushed out of the cache is rendered again', async () => {
  const { path, feed } = await shown();
  const small = await bench.start({
    FEED_CACHE_MAX_BYTES: '0',
    CACHE_FOLDER: `${bench.folder}/cache-c`,
    JOURNAL_FOLDER: `${bench.folder}/journal-c`,
  });
  try {
    const askSmall = askAt(() => small.port);
    const second = await shown();
    for (const each of [path, second.path, path]) expect((await askSmall(each)).status).toBe(200);
    expect((await askSmall(path)).body).toEqual((await feed()).body);
  } finally {
    await small[Symbol.asyncDispose]();
  }
});

test('requests of one moment are each answered for their own feed', async () => {
  const [one, two, gone] = [await shown(), await shown(), await shown()];
  await apply(bench, next(gone.events.podcast, {}, { state: 'archived' }));
  const asked = [one.path, '/feeds/nobody.xml', two.path, gone.path, one.path];
  const answers = await Promise.all(asked.map((path) => ask(path)));
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 410, 200]);
  const tags = [one, two, one].map(async ({ feed }) => (await feed()).headers.etag);
  expect([answers[0], answers[2], answers[4]].map((answer) => answer!.headers.etag)).toEqual(await Promise.all(tags));
});

describe('a podcast that is not simply public', () => {
  test('leaves with its episodes: unpublished is 404, archived 410', async () => {
    const { events, feed } = await shown();
    await apply(bench, next(events.episode, {}, { state: 'unpublished' }));
    expect(itemsOf((await feed()).body)).toEqual([]);
    await apply(bench, next(events.podcast, {}, { state: 'unpublished' }));
    expect((await feed()).status).toBe(404);
    await apply(bench, next(events.podcast, {}, { state: 'archived', by: 2 }));
    expect([(await feed()).status, JSON.parse((await feed()).body.toString()).code]).toEqual([410, 'resource_gone']);
  });

  test('an archived one gives its address to the next that takes the subdomain, whichever event comes first', async () => {
    const { events, feed, subdomain } = await shown();
    const heir = showOfNothing();
    await apply(bench, next(heir.events.podcast, { subdomain, title: 'Heir' }));
    await apply(bench, next(events.podcast, {}, { state: 'archived' }));
    expect(channelOf((await feed()).body)['title']).toBe('Heir');
  });

  test('one that moved answers 301 for ever to every request', async () => {
    const { events, path, feed } = await shown();
    const known = await feed();
    const address = 'https://elsewhere.example/feed?a=1';
    await apply(bench, next(events.podcast, { new_feed_url: address }));
    for (const headers of [{}, { 'if-none-match': known.headers.etag! }]) {
      const moved = await feed(headers);
      expect([moved.status, moved.headers.location, moved.body.length]).toEqual([301, address, 0]);
    }
    expect((await ask(path, {}, 'HEAD')).status).toBe(301);
    await apply(bench, next(events.podcast, { new_feed_url: address, title: 'Changed' }, { by: 2 }));
    expect((await feed()).status).toBe(301);
  });

  test('one that was imported names its new address in its feed', async () => {
    const { feed } = await shown({
      import: { feed_url: 'https://old.example/rss', storage_key: 'imports/x.xml', total: 1, done: 0, failed: 0 },
    });
    expect(channelOf((await feed()).body)['itunes:new-feed-url']).toMatch(/^http:\/\/media\.test\/feeds\/show-/);
  });

  test.each(['/feeds/nobody.xml', '/feeds/nobody', '/feeds/..%2fx.xml', '/feeds/%E0%A4%A.xml'])(
    '%s is not found',
    async (path) => {
      const answer = await ask(path);
      expect(answer.status).toBe(404);
      expect(JSON.parse(answer.body.toString())).toMatchObject({
        type: 'urn:longwave:problem:resource-not-found',
        status: 404,
        code: 'not_found',
      });
    },
  );
});

describe('a long feed', () => {
  const count = 250;

  test('is whole at its plain address and in pages of 100 beside it, newest first', async () => {
    const { events, feed, path } = await shown();
    for (let i = 1; i < count; i++) {
      const each = showOfNothing().events;
      const published = new Date(Date.parse('2026-11-01T00:00:00Z') - i * 60_000).toISOString();
      const links = { podcast_id: events.podcast.subject.id, published_at: published, title: `Episode ${i}` };
      await apply(bench, next(each.episode, links), each.production);
    }
    const whole = itemsOf((await feed()).body);
    expect(whole).toHaveLength(count);
    const linksOf = (body: Buffer) =>
      Object.fromEntries(
        (channelOf(body)['atom:link'] as Record<string, string>[]).map((link) => [link['@_rel'], link['@_href']]),
      );
    expect(linksOf((await feed()).body)).toEqual({ self: `http://media.test${path}` });
    const at = (page: number) => `http://media.test${path}?page=${page}`;
    const pages = await Promise.all([1, 2, 3].map((page) => ask(at(page))));
    expect(pages.flatMap(({ body }) => itemsOf(body))).toEqual(whole);
    expect(pages.map(({ body }) => linksOf(body))).toEqual([
      { self: at(1), first: at(1), next: at(2), last: at(3) },
      { self: at(2), first: at(1), previous: at(1), next: at(3), last: at(3) },
      { self: at(3), first: at(1), previous: at(2), last: at(3) },
    ]);
    const known = { 'if-none-match': pages[1]!.headers.etag! };
    expect([(await ask(at(2), known)).status, (await ask(at(1), known)).status]).toEqual([304, 200]);
    for (const page of ['4', '0', '-1', 'x', '1&page=2'])
      expect([page, (await ask(`${path}?page=${page}`)).status]).toEqual([page, 404]);
  });
});

test('however events and requests interleave, the kept document is that of the last revision', async () => {
  for (let round = 0; round < 40; round++) {
    const show = showOfNothing();
    const { podcast, episode, production } = show.events;
    let applying = true;
    const asking = (async () => {
      while (applying) await ask(`/feeds/${show.subdomain}.xml`);
    })();
    await Promise.all([apply(bench, podcast), apply(bench, episode), apply(bench, production)]);
    applying = false;
    await asking;
    expect(itemsOf((await ask(`/feeds/${show.subdomain}.xml`)).body)).toHaveLength(1);
  }
});

test('a conditional request for a feed that did not change reads one row of the database', async () => {
  const { subdomain } = await shown();
  await bench.pool.query(
    `insert into feed (podcast_id, subdomain, state, revision, changed_at)
     select 'pod_' || i, 'many-' || i, 'published', gen_random_uuid(), now() from generate_series(1, 5000) as i`,
  );
  await bench.database.vacuum();
  // One connection in one transaction, so PostgreSQL counts only the reads of these requests.
  const pool = createPool(bench.environment['DATABASE_URL']!, 'delivery', { name: 'one', max: 1 });
  const documents = await createDocumentCache(`${bench.folder}/documents`, 1 << 20);
  const surroundings = { mediaUrl: 'http://media.test', usesPodping: false, hubUrl: undefined };
  const findFeed = createFindFeed(pool, documents, surroundings);
  const router = createRouter(feedRoutes({ ...surroundings, findFeed, now: bench.now }), bench.logger, bench.now);
  const http = await listenHttp('127.0.0.1:0', router);
  try {
    const feed = (headers = {}) => askAt(() => http.port)(`/feeds/${subdomain}.xml`, headers);
    const { etag } = (await feed()).headers;
    const read = async () => {
      const { rows } = await pool.query<{ read: string }>(
        `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) as read from pg_stat_xact_user_tables
         where schemaname = 'delivery'`,
      );
      return Number(rows[0]!.read);
    };
    await pool.query('begin');
    const before = await read();
    for (let i = 0; i < 50; i++) expect((await feed({ 'if-none-match': etag! })).status).toBe(304);
    expect((await read()) - before).toBe(50);
    await pool.query('rollback');
  } finally {
    await http.close(0);
    await pool.end();
  }
});
