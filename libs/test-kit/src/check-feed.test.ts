import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { checkFeed } from './check-feed.ts';

const feed = (page: string) => `<channel><atom:link rel="self"/><title>T</title><description>D</description>
<link>https://a.example</link><language>en</language><itunes:category text="Arts"/><itunes:explicit>false</itunes:explicit>
<itunes:image href="https://a.example/i.png"/><podcast:guid>01234567-89ab-4cde-8f01-23456789abcd</podcast:guid>
<item><guid>1</guid><pubDate>today</pubDate><enclosure url="https://a.example/${page}.mp3" length="9" type="audio/mpeg"/></item></channel>`;

/** Serves a feed under the tag that each request gets in turn, the last one from then on. */
async function serveFeed(tags: readonly string[], knows304: boolean) {
  let asked = 0;
  const server = createServer((request, response) => {
    const tag = tags[Math.min(asked++, tags.length - 1)]!;
    response.setHeader('etag', `"${tag}"`);
    if (knows304 && request.headers['if-none-match'] === `"${tag}"`) return void response.writeHead(304).end();
    response.end(feed(tag));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, [Symbol.asyncDispose]: async () => void server.close().closeAllConnections() };
}

test('a feed that changes while it is checked is checked again', async () => {
  await using server = await serveFeed(['a', 'b'], true);
  expect(await checkFeed(server.url)).toEqual({ enclosureUrl: 'https://a.example/b.mp3', length: 9, etag: '"b"' });
});

test('a feed that answers its own tag with the whole feed is refused', async () => {
  await using server = await serveFeed(['a'], false);
  await expect(checkFeed(server.url)).rejects.toThrow('If-None-Match answered 200 instead of 304');
});
