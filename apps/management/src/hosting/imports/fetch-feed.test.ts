import { expect, test } from '@jest/globals';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';
import { fetchFeed } from './fetch-feed.ts';

const item = (n: number) => `<item><title>${n}</title><guid>${n}</guid></item>`;
const page = (n: number, next?: number) =>
  `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Paged</title>${
    next === undefined ? '' : `<atom:link rel="next" href="https://host.example/${next}"/>`
  }${item(n)}</channel></rss>`;

/** Another host whose answers each take this long on the clock. */
function slowHost(answerMs: number, bodyOf: (n: number) => string) {
  let nowMs = 0;
  const requested: number[] = [];
  const fetch: GuardedFetch = async (url, { timeoutMs }) => {
    const n = Number(new URL(url).pathname.slice(1));
    requested.push(n);
    nowMs += Math.min(answerMs, timeoutMs);
    if (answerMs > timeoutMs) throw new Problem('media_not_fetchable', 'The host takes too long to send the file.');
    return {
      status: 200,
      headers: {},
      finalUrl: url,
      body: (async function* () {
        yield Buffer.from(bodyOf(n));
      })(),
      [Symbol.dispose]: () => undefined,
    };
  };
  return { fetch, requested, now: () => nowMs };
}
const start = 'https://host.example/0';

test('each page of a feed has its own time limit, so many slow pages are fetched', async () => {
  const { fetch, now } = slowHost(7_000, (n) => page(n, n < 5 ? n + 1 : undefined));
  const { itemCount, bytes } = await fetchFeed(fetch, start, { now });
  expect(itemCount).toBe(6);
  expect(bytes.toString().match(/<guid>\d/g)).toEqual([0, 1, 2, 3, 4, 5].map((n) => `<guid>${n}`));
});

test('fetching older pages ends with the caller’s time, and keeps the fetched ones', async () => {
  const { fetch, requested, now } = slowHost(7_000, (n) => page(n, n + 1));
  expect(await fetchFeed(fetch, start, { now, endsAtMs: 16_000 })).toMatchObject({ itemCount: 2 });
  expect(requested).toEqual([0, 1, 2]);
  expect(now()).toBe(16_000);
});

test.each([
  ['no feed', '<html></html>'],
  ['too deep', page(2).replace('<title>', '<a>'.repeat(60) + '<title>')],
])('an older page that is %s does not take away what came', async (_kind, broken) => {
  const { fetch, now } = slowHost(10, (n) => (n === 2 ? broken : page(n, n + 1)));
  const { itemCount } = await fetchFeed(fetch, start, { now });
  expect(itemCount).toBeGreaterThanOrEqual(2);
});

test('a feed without an answer to its first page is refused', async () => {
  const { fetch, now } = slowHost(15_001, (n) => page(n));
  await expect(fetchFeed(fetch, start, { now })).rejects.toMatchObject({ code: 'feed_not_importable' });
});

test('namespaces of older pages, written into each of their items, stay within the bound of a whole feed', async () => {
  const declared = Array.from(
    { length: 100 },
    (_, i) => `xmlns:a${i}="https://vocabulary.example/${i}/${'u'.repeat(60)}"`,
  );
  const older = `<rss ${declared.join(' ')}><channel><title>Paged</title>${'<item></item>'.repeat(8_000)}</channel></rss>`;
  const { fetch, now } = slowHost(10, (n) => (n === 0 ? page(0, 1) : older));
  const { bytes, itemCount } = await fetchFeed(fetch, start, { now });
  expect(bytes.length).toBeLessThan(50_000_000);
  expect(itemCount).toBeGreaterThan(1_000);
});
