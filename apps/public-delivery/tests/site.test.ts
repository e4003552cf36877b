import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Pool } from '@longwave/postgres';
import { encodeTranscript } from '@longwave/transcript';
import { sha256, until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { createFindSitePage } from '../src/site/find-site-page.ts';
import { apply, next } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { publishShow } from './_stitched.ts';
import { audio, openBench, playedFacts, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

async function show(episode: Record<string, unknown> = {}) {
  const made = await publishShow(bench, audio(100), episode);
  const home = `/site/${made.subdomain}`;
  return { ...made, home, page: `${home}/${made.episodeId}` };
}
const textOf = async (path: string) => (await ask(path)).body.toString();
const statuses = (paths: readonly string[]) => Promise.all(paths.map(async (path) => (await ask(path)).status));

test('a podcast and its episode have pages that run nothing, load nothing of others, and only the console frames', async () => {
  const { home, page, enclosure, episodeId, subdomain } = await show({ description: '<p>Boats</p>' });
  const [{ status, headers, body }, episode] = [await ask(home), await ask(page)];
  const style = /<style>(.*)<\/style>/s.exec(body.toString())![1]!;
  const digest = createHash('sha256').update(style).digest('base64');
  expect([status, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'text/html; charset=utf-8',
    'public, max-age=60, stale-while-revalidate=300',
  ]);
  expect(headers['content-security-policy']).toBe(
    `default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-${digest}'; img-src 'self' data:; media-src 'self'; frame-ancestors http://base.test`,
  );
  expect(headers['set-cookie']).toBeUndefined();
  expect(body.toString()).toContain(`<a href="http://media.test${page}">One: the Größe</a>`);
  expect(episode.body.toString()).toContain(`src="http://media.test${enclosure}"></audio>`);
  for (const html of [body, episode.body]) {
    const loaded = [...html.toString().matchAll(/\bsrc(?:set)?="([^"]+)"/g)].map(([, url]) => new URL(url!).host);
    expect(new Set(loaded)).toEqual(new Set(['media.test']));
  }
  expect(await textOf(`${home}/sitemap.xml`)).toContain(`<loc>http://media.test/site/${subdomain}/${episodeId}</loc>`);
});

test('a play from the page is counted like any other', async () => {
  const { page, episodeId } = await show();
  const listener = newListener();
  const [, source] = /<audio [^>]*src="([^"]+)"/.exec(await textOf(page))!;
  const { location } = (await ask(source!, listener)).headers;
  const { status, headers } = await ask(location!, listener);
  expect(status).toBe(200);
  const isPlay = ({ request_id }: { readonly request_id: string }) => request_id === headers['x-request-id'];
  expect((await until(() => playedFacts(bench.facts).find(isPlay))).episode_id).toBe(episodeId);
});

test('a page is asked for again by its tag, is compressed, and shows each change of podcast and episode at once', async () => {
  const { home, page, events } = await show();
  for (const path of [home, page]) {
    const { etag } = (await ask(path)).headers;
    expect((await ask(path, { 'if-none-match': etag! })).status).toBe(304);
    const zipped = await ask(path, { 'accept-encoding': 'gzip' });
    expect([zipped.headers['content-encoding'], zipped.headers.vary]).toEqual(['gzip', 'Accept-Encoding']);
    expect(gunzipSync(zipped.body).toString()).toBe(await textOf(path));
  }
  await apply(
    bench,
    next(events.episode, { title: 'Two', description: 'Fog' }),
    next(events.podcast, { title: 'Ebb' }),
  );
  expect(await textOf(home)).toContain('>Two</a>');
  expect(await textOf(page)).toContain('<title>Two – Ebb</title>');
});

test('what is not public has no page: 404 for drafts, what was taken offline or archived, and for episodes of another podcast', async () => {
  const [one, other] = [await show(), await show()];
  expect(
    await statuses([one.page, `${one.home}/${other.episodeId}`, `${one.home}?page=2`, `${one.home}?page=x`]),
  ).toEqual([200, 404, 404, 404]);
  expect(
    await statuses(['/site/nobody', `/site/nobody/${one.episodeId}`, `${one.home}/x`, '/site/nobody/sitemap.xml']),
  ).toEqual([404, 404, 404, 404]);
  await apply(bench, next(one.events.episode, {}, { state: 'unpublished' }));
  expect(await statuses([one.home, one.page])).toEqual([200, 404]);
  expect(await textOf(`${one.home}/sitemap.xml`)).not.toContain(one.episodeId);
  await apply(bench, next(one.events.podcast, {}, { state: 'unpublished' }));
  expect(await statuses([one.home, one.page, `${one.home}/sitemap.xml`])).toEqual([404, 404, 404]);
  await apply(bench, next(other.events.podcast, {}, { state: 'archived' }));
  expect(await statuses([other.home, other.page])).toEqual([404, 404]);
});

test('a podcast that has moved leads to its own page, else to its new feed, and never to itself', async () => {
  const { home, page, events } = await show();
  const placeOf = async (path: string) => {
    const { status, headers } = await ask(path);
    return [status, headers.location];
  };
  const new_feed_url = 'https://new.example/feed.xml';
  await apply(bench, next(events.podcast, { new_feed_url, link: 'https://own.example/tides' }));
  expect([await placeOf(home), await placeOf(page)]).toEqual(Array(2).fill([301, 'https://own.example/tides']));
  await apply(bench, next(events.podcast, { new_feed_url, link: `http://media.test${home}/` }, { by: 2 }));
  expect(await placeOf(home)).toEqual([301, new_feed_url]);
  await apply(bench, next(events.podcast, { new_feed_url }, { by: 3 }));
  expect(await placeOf(page)).toEqual([301, new_feed_url]);
});

test('an episode shows its transcript; while the store does not give it the page does without, and has it later', async () => {
  const transcript = encodeTranscript({
    version: 1,
    cues: [{ start_ms: 0, end_ms: 900, speaker: 'Ana', text: 'Good <morning>' }],
  });
  const [key, bytes] = [`transcripts/${sha256(Buffer.from(transcript))}`, Buffer.from(transcript)];
  const { page } = await show({
    chapters: [
      { start_ms: 0, title: 'Ebb' },
      { start_ms: 1_000, title: 'Hidden', toc: false },
    ],
    transcripts: [
      {
        language: 'en',
        sha256: sha256(bytes),
        size_bytes: bytes.length,
        cue_count: 1,
        storage_key: key,
        captions: false,
      },
    ],
  });
  const without = await textOf(page);
  expect(without).toContain('<a href="http://media.test/delivery/v1/e/');
  expect(without).not.toContain('Ana:');
  await bench.store.put(key, bytes, { contentType: 'application/json' });
  const html = await textOf(page);
  expect(html).toContain('<p><strong>Ana:</strong> Good &lt;morning&gt;</p>');
  expect(html).toContain('>Ebb</span>');
  expect(html).not.toContain('Hidden');
});

const oembed = (url: string, more = '') => ask(`/oembed?url=${encodeURIComponent(`http://media.test${url}`)}${more}`);

test('the page names its player for other pages (oEmbed), which is the player of the enclosure and the one page that all may frame', async () => {
  const { page, enclosure } = await show({ title: 'Ebb "&" <flow>' });
  const html = await textOf(page);
  const [, discovery] = /<link rel="alternate" type="application\/json\+oembed"[^>]* href="([^"]+)">/.exec(html)!;
  const { status, headers, body } = await ask(discovery!);
  expect([status, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'application/json; charset=utf-8',
    'public, max-age=60, stale-while-revalidate=300',
  ]);
  const document = JSON.parse(body.toString()) as { html: string };
  expect(document).toMatchObject({
    version: '1.0',
    type: 'rich',
    title: 'Ebb "&" <flow>',
    provider_name: 'Tides',
    width: 640,
    height: 120,
  });
  expect(document.html).toBe(
    `<iframe src="http://media.test${page}/embed" title="Ebb &quot;&amp;&quot; &lt;flow&gt;" width="640" height="120" loading="lazy" style="border:0"></iframe>`,
  );
  const player = await ask(`${page}/embed`);
  expect(player.headers['content-security-policy']).toMatch(/frame-ancestors \*$/);
  expect(player.body).toEqual((await ask(enclosure.replace(/[^/]+$/, 'player'))).body);
  expect(JSON.parse((await oembed(page, '&maxwidth=300&maxheight=90')).body.toString())).toMatchObject({
    width: 300,
    height: 90,
  });
});

test('oEmbed knows pages of public episodes alone', async () => {
  const { home, page, events, episodeId } = await show();
  const statusOf = async (url: string, more?: string) => (await oembed(url, more)).status;
  expect(await Promise.all([page, `${page}/`, `${page}/embed`, `${page}?utm=1#x`].map((url) => statusOf(url)))).toEqual(
    [200, 200, 200, 200],
  );
  expect(
    await Promise.all(
      [home, `${home}/x`, `/site/nobody/${episodeId}`, `${page}/x`, `${page}/embed/x`].map((url) => statusOf(url)),
    ),
  ).toEqual([404, 404, 404, 404, 404]);
  const asked = (query: string) => ask(`/oembed?${query}`);
  const wrong = [
    '',
    'url=x',
    `url=http://elsewhere.example${page}`,
    `url=http://media.test${page}&url=y`,
    `url=http://media.test${page}&maxwidth=x`,
  ];
  expect((await Promise.all(wrong.map(asked))).map(({ status }) => status)).toEqual([422, 404, 404, 422, 422]);
  expect(await statusOf(page, '&format=xml')).toBe(501);
  await apply(bench, next(events.episode, {}, { state: 'unpublished' }));
  expect([await statusOf(page), ...(await statuses([`${page}/embed`]))]).toEqual([404, 404]);
  await apply(bench, next(events.episode, {}, { state: 'archived', by: 2 }));
  expect([await statusOf(page), ...(await statuses([`${page}/embed`]))]).toEqual([404, 404]);
});

/** Pages of a new podcast, how many were read, and a way to hold up readings. */
async function openPages() {
  const { subdomain, events } = await publishShow(bench, audio(100));
  let reads = 0;
  let held = Promise.resolve();
  const connect = async () => {
    reads++;
    await held;
    return bench.pool.connect();
  };
  const query = bench.pool.query.bind(bench.pool);
  const pool = Object.create(bench.pool, { connect: { value: connect }, query: { value: query } }) as Pool;
  const pages = createFindSitePage({
    pool,
    readTranscript: () => Promise.reject(new Error('no transcript')),
    logger: bench.logger,
    mediaUrl: 'http://media.test',
  });
  const show = (page = 1, leaving = new AbortController().signal) => pages(subdomain, { kind: 'show', page }, leaving);
  const hold = (released: Promise<void>) => {
    held = released;
  };
  return { show, events, reads: () => reads, hold };
}

const codeOf = (found: Promise<unknown>) =>
  found.then(
    () => 'found',
    (problem: { readonly code: string }) => problem.code,
  );

test('a page is read and rendered once for all that ask for it at a time, and again after a change', async () => {
  const { show, reads, events } = await openPages();
  const found = await Promise.all(Array.from({ length: 20 }, () => show()));
  expect([new Set(found).size, reads()]).toEqual([1, 1]);
  expect(await show()).toEqual(found[0]);
  expect(reads()).toBe(1);
  await apply(bench, next(events.podcast, { title: 'Ebb' }));
  expect(await show()).not.toEqual(found[0]);
  expect(reads()).toBe(2);
});

test('a page that is not there is looked for once for each revision of the feed', async () => {
  const { show, reads, events } = await openPages();
  for (let at = 0; at < 3; at++) expect(await codeOf(show(2))).toBe('not_found');
  expect(reads()).toBe(1);
  await apply(bench, next(events.podcast, { title: 'Ebb' }));
  expect(await codeOf(show(2))).toBe('not_found');
  expect(reads()).toBe(2);
});

test('while 4 pages are read and 100 wait, others are refused; a page that nobody waits for any more makes room and is not read', async () => {
  const { show, reads, hold } = await openPages();
  const { promise, resolve } = Promise.withResolvers<void>();
  hold(promise);
  const leaving = new AbortController();
  const first = Array.from({ length: 103 }, (_, at) => codeOf(show(at + 2)));
  const left = [codeOf(show(105, leaving.signal)), codeOf(show(105, leaving.signal))];
  const joined = codeOf(show(2));
  const refused = show(106);
  await expect(refused).rejects.toMatchObject({ code: 'temporarily_unavailable', context: { retryAfterSeconds: 1 } });
  leaving.abort(new Error('left'));
  expect(await Promise.all(left)).toEqual(Array(2).fill('temporarily_unavailable'));
  const later = codeOf(show(107));
  expect(reads()).toBe(4);
  resolve();
  expect(new Set(await Promise.all([...first, joined, later]))).toEqual(new Set(['not_found']));
  expect(reads()).toBe(104);
});
