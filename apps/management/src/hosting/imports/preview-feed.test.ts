import { expect, test } from '@jest/globals';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';
import { createPreviewFeed } from './preview-feed.ts';

const patient = { deadline: new Date(Date.now() + 600_000), signal: new AbortController().signal };

/** A host that answers with a feed, and tells when it has. */
const hostOf =
  (answer: string | Problem, answered?: () => void): GuardedFetch =>
  async (url) => {
    if (answer instanceof Problem) throw answer;
    return {
      ...{ status: 200, headers: {}, finalUrl: url },
      body: (async function* () {
        yield Buffer.from(answer);
        answered?.();
      })(),
      [Symbol.dispose]: () => undefined,
    };
  };

/** Previews a feed that another host answers with. */
const preview = (answer: string | Problem, caller = patient) =>
  createPreviewFeed(hostOf(answer))('ws_1', 'https://old.example/feed.xml', caller);

const feed = (channel: string, items: string) =>
  `<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="https://podcastindex.org/namespace/1.0">
   <channel><title>Old</title>${channel}${items}</channel></rss>`;
const item = (guid: string, more = '') =>
  `<item><title>${guid}</title><guid>${guid}</guid><pubDate>Mon, 01 Jun 2020 06:00:00 GMT</pubDate>${more}</item>`;
const file = (bytes: string) => `<enclosure url="https://cdn.example/a.mp3" type="audio/mpeg" length="${bytes}"/>`;

test('a preview says what a feed has, what would not be kept, and which items would have no audio', async () => {
  const items = item('a', file('1000')) + item('b', file('500')) + item('a', file('7')) + item('c') + '<item></item>';
  const channel =
    '<itunes:author>Mary</itunes:author><itunes:image href="https://cdn.example/art.jpg"/><itunes:category text="Gossip"/>';
  expect(await preview(feed(channel, items + item('d', `${file('none')}<itunes:order>4</itunes:order>`)))).toEqual({
    ...{ title: 'Old', author: 'Mary', description: '', language: '', artworkUrl: 'https://cdn.example/art.jpg' },
    ...{ isLocked: false, isBlocked: false, items: 6, audioBytes: 1500n },
    channelNotes: [{ kind: 'lost', field: 'categories', detail: '“Gossip” is not a category of Apple Podcasts.' }],
    noteCounts: [{ kind: 'lost', field: 'itunes:order', items: 1 }],
    leftOut: [
      { position: 3, title: 'a', problem: 'It has the same guid as item 1, which is imported.' },
      { position: 4, title: 'c', problem: 'The item names no file at a web address.' },
      { position: 5, title: '', problem: 'The item has neither guid, file, link nor title.' },
    ],
    leftOutItems: 3,
  });
});

test('a locked feed is shown as locked', async () => {
  const locked = feed('<podcast:locked>yes</podcast:locked>', item('a', file('1')));
  expect(await preview(locked)).toMatchObject({ title: 'Old', isLocked: true, items: 1 });
});

test('an address is refused as its import would be: no feed, an empty one, one that may not be fetched', async () => {
  const refused = { code: 'feed_not_importable' };
  await expect(preview('<html></html>')).rejects.toMatchObject(refused);
  await expect(preview(feed('', ''))).rejects.toMatchObject(refused);
  await expect(preview(new Problem('media_not_fetchable', 'This address may not be fetched.'))).rejects.toMatchObject({
    ...refused,
    message: 'This address may not be fetched.',
  });
});

test('a preview ends with a problem, and gives its turn back, two seconds before its deadline or when its caller has left', async () => {
  const items = Array.from({ length: 50 }, (_v, n) => item(`${n}`)).join('');
  const late = { ...patient, deadline: new Date(Date.now() + 1_500) };
  await expect(preview(feed('', items), late)).rejects.toMatchObject({ code: 'timeout' });

  const caller = new AbortController();
  const leave = () => void setImmediate(() => caller.abort());
  const look = createPreviewFeed(hostOf(feed('', items), leave));
  const address = 'https://old.example/feed.xml';
  await expect(look('ws_1', address, { ...patient, signal: caller.signal })).rejects.toMatchObject({ code: 'timeout' });
  expect(await look('ws_1', address, patient)).toMatchObject({ items: 50 });
});
