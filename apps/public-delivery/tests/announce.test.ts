import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { next } from './_apply.ts';
import { askAt, channelOf, itemsOf } from './_ask.ts';
import { audio, makeShow, openBench, publishEvents, type Bench } from './_support.ts';

interface Told {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let bench: Bench;
let app: DeliveryApp;
let hub: string;
const told: Told[] = [];
/** How often the hub fails before it accepts an announcement. */
let refusals = 0;
const ask = askAt(() => app.port);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const url = new URL(request.url!, 'http://hub.test');
    told.push({ method: request.method!, url, headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(refusals-- > 0 ? 503 : 204).end();
  });
});

beforeAll(async () => {
  bench = await openBench();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app = await bench.start({
    WEBSUB_HUB: `${hub}/hub`,
    PODPING_URL: `${hub}/podping`,
    PODPING_TOKEN: 'secret-sender',
    ANNOUNCE_AFTER_MS: '300',
  });
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
  await bench.stop();
});

const tellingsOf = (feedUrl: string) =>
  told.filter(
    ({ url, body }) => url.searchParams.get('url') === feedUrl || new URLSearchParams(body).get('hub.url') === feedUrl,
  );

/** Resolves when the events are applied and no announcement is left. */
const settled = (podcastId: string) =>
  until(async () => {
    const { rows } = await bench.pool.query<{ left: number; known: number }>(
      `select (select count(*)::int from announcement where podcast_id = $1) as left,
         (select count(*)::int from feed where podcast_id = $1 and state is not null) as known`,
      [podcastId],
    );
    return rows[0]!.known === 1 && rows[0]!.left === 0;
  });

test('a burst of changes is announced once to the hub and once by podping, and a failed announcement is retried', async () => {
  refusals = 3;
  const show = await makeShow(bench.store, audio(10));
  const feedUrl = `http://media.test/feeds/${show.subdomain}.xml`;
  await publishEvents(bench.bus, Object.values(show.events));
  await until(() => tellingsOf(feedUrl).length >= 5);
  await settled(show.podcastId);
  const tellings = tellingsOf(feedUrl);
  expect(tellings).toHaveLength(5);
  const websub = tellings.find(({ url }) => url.pathname === '/hub')!;
  expect([websub.method, Object.fromEntries(new URLSearchParams(websub.body))]).toEqual([
    'POST',
    { 'hub.mode': 'publish', 'hub.url': feedUrl, 'hub.topic': feedUrl },
  ]);
  const podping = tellings.find(({ url }) => url.pathname === '/podping')!;
  expect([podping.method, podping.url.searchParams.get('reason'), podping.headers.authorization]).toEqual([
    'GET',
    'update',
    'secret-sender',
  ]);

  await publishEvents(bench.bus, [next(show.events.episode, { title: 'Changed' })]);
  await until(() => tellingsOf(feedUrl).length >= 7);
  await settled(show.podcastId);
  expect(tellingsOf(feedUrl)).toHaveLength(7);
  // The change is in the feed when it is announced.
  expect(itemsOf((await ask(feedUrl)).body)[0]!.title).toBe('Changed');
  expect(bench.logLines.join('')).not.toContain('secret-sender');
});

test('a change that the feed does not show is not announced', async () => {
  const show = await makeShow(bench.store, audio(10));
  const feedUrl = `http://media.test/feeds/${show.subdomain}.xml`;
  await publishEvents(bench.bus, Object.values(show.events));
  await until(() => tellingsOf(feedUrl).length >= 2);
  await settled(show.podcastId);
  const moved = { new_feed_url: 'https://elsewhere.example/feed' };
  const hidden = next(show.events.production, { publication_flag: false });
  const away = next(show.events.podcast, moved);
  const after = next(show.events.episode, { title: 'Nobody reads this here' });
  await publishEvents(bench.bus, [hidden, away, after]);
  await until(async () => (await ask(feedUrl)).status === 301);
  await settled(show.podcastId);
  for (const { url, body } of tellingsOf(feedUrl).slice(2)) expect([url.href, body]).toEqual([]);
});

test('the feed names its hub and podping', async () => {
  const show = await makeShow(bench.store, audio(10));
  await publishEvents(bench.bus, Object.values(show.events));
  const path = `/feeds/${show.subdomain}.xml`;
  const feed = await until(async () => {
    const answer = await ask(path);
    return answer.status === 200 && answer;
  });
  expect(feed.headers['link']).toBe(`<${hub}/hub>; rel="hub", <http://media.test${path}>; rel="self"`);
  const channel = channelOf(feed.body);
  expect(channel['atom:link']).toContainEqual({ '@_href': `${hub}/hub`, '@_rel': 'hub' });
  expect(channel['podcast:podping']).toEqual({ '@_usesPodping': 'true' });
});
