import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createGuardedFetch } from '@longwave/guarded-fetch';
import { createPublicFetch, type PublicFetch } from '../src/outside/public-fetch.ts';
import { checkArtwork } from '../src/hosting/podcasts/check-artwork.ts';
import { checkFeed } from '../src/hosting/podcasts/check-feed.ts';
import { mediaUrl, refusalOf, squarePng, startTestManagement, type TestManagement } from './_management.ts';
import { createWorld } from './_world.ts';

/** A file as a host serves it; each flag is a fault that directories refuse. */
interface Served {
  readonly type: string;
  readonly body: Buffer;
  readonly faults?: readonly ('no_head' | 'no_range' | 'no_length' | 'no_etag' | 'no_304')[];
}

/** A host of feeds, artwork and audio, over real HTTP. */
async function startHost() {
  const files = new Map<string, Served>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const file = files.get(new URL(request.url!, 'http://host').pathname);
    if (!file) return void response.writeHead(404).end();
    const { type, body, faults = [] } = file;
    const etag = `"${body.length}"`;
    if (request.method === 'HEAD' && faults.includes('no_head')) return void response.writeHead(405).end();
    if (request.headers['if-none-match'] === etag && !faults.includes('no_304'))
      return void response.writeHead(304).end();
    const headers: Record<string, string> = { 'content-type': type };
    if (!faults.includes('no_etag')) headers['etag'] = etag;
    const range = /^bytes=0-(\d+)$/.exec(request.headers.range ?? '');
    if (range && !faults.includes('no_range')) {
      const part = body.subarray(0, Number(range[1]) + 1);
      response.writeHead(206, {
        ...headers,
        'content-length': part.length,
        'content-range': `bytes 0-${part.length - 1}/${body.length}`,
      });
      return void response.end(request.method === 'HEAD' ? undefined : part);
    }
    if (!faults.includes('no_length')) headers['content-length'] = String(body.length);
    response.writeHead(200, headers);
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    files,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let host: Awaited<ReturnType<typeof startHost>>;
let publicFetch: PublicFetch;
let management: TestManagement;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  host = stack.use(await startHost());
  publicFetch = createPublicFetch(createGuardedFetch({ allowOrigins: [host.origin] }));
  management = stack.use(await startTestManagement());
});
afterAll(async () => stack.disposeAsync());
beforeEach(() => host.files.clear());

function png(width: number, height: number): Buffer {
  const bytes = Buffer.from(squarePng);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}
const serve = (path: string, file: Served) => {
  host.files.set(path, file);
  return `${host.origin}${path}`;
};

describe('artwork', () => {
  const codes = async (path: string, file: Served) =>
    (await checkArtwork(publicFetch, serve(path, file))).map(({ code }) => code);
  const good: Served = { type: 'image/png', body: png(3000, 3000) };

  test('that a directory takes has no finding', async () => {
    expect(await codes('/cover.png', good)).toEqual([]);
    expect(await codes('/COVER.PNG', { ...good, body: png(1400, 1400) })).toEqual([]);
  });

  test.each<[string, string, Served, string[]]>([
    ['answers no HEAD', '/a.png', { ...good, faults: ['no_head'] }, ['artwork_head']],
    ['has no length', '/a.png', { ...good, faults: ['no_length'] }, ['artwork_length']],
    ['ignores ranges', '/a.png', { ...good, faults: ['no_range'] }, ['artwork_range']],
    ['is wide', '/a.png', { ...good, body: png(1400, 1200) }, ['artwork_square']],
    ['is small', '/a.png', { ...good, body: png(1399, 1399) }, ['artwork_size']],
    ['is large', '/a.png', { ...good, body: png(3001, 3001) }, ['artwork_size']],
    ['has another type', '/a.png', { ...good, type: 'image/jpeg' }, ['artwork_type']],
    ['has another extension', '/a.jpg', good, ['artwork_extension']],
    ['is no image', '/a.png', { ...good, body: Buffer.from('GIF89a') }, ['artwork_format']],
  ])('that %s is refused', async (_fault, path, file, expected) => {
    expect(await codes(path, file)).toEqual(expected);
  });

  test('that is missing is refused in words', async () => {
    expect(await checkArtwork(publicFetch, `${host.origin}/none.png`)).toEqual([
      { severity: 'error', code: 'artwork_head', text: 'The artwork answers HEAD with 404; directories need 200.' },
      {
        severity: 'error',
        code: 'artwork_range',
        text: 'The artwork answers a byte range with 404; directories need 206.',
      },
    ]);
    const closed = await checkArtwork(publicFetch, 'http://127.0.0.1:1/none.png');
    expect(closed.map(({ code }) => code)).toEqual(['artwork_head', 'artwork_range']);
    expect(closed[0]!.text).toMatch(/^The artwork answers HEAD with nothing \(.+\); directories need 200\.$/);
  });
});

describe('a live feed', () => {
  const item = (n: number, change: (xml: string) => string = (xml) => xml) =>
    change(`<item><title>Episode ${n}</title><guid isPermaLink="false">g-${n}</guid>
      <pubDate>Sun, 01 Nov 2026 05:06:0${n} +0000</pubDate><description>d</description><itunes:duration>60</itunes:duration>
      <enclosure url="${host.origin}/e/${n}.mp3" length="384" type="audio/mpeg"/></item>`);
  const feed = (items: string, change: (xml: string) => string = (xml) => xml) =>
    change(`<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:atom="http://www.w3.org/2005/Atom" xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel>
<atom:link href="${host.origin}/feed.xml" rel="self" type="application/rss+xml"/><atom:link rel="hub" href="https://hub.example"/>
<title>Harbour</title><description><![CDATA[Light & <b>dark</b>]]></description><link>https://harbour.example</link><language>en</language>
<itunes:author>Mary</itunes:author><itunes:owner><itunes:name>Mary</itunes:name></itunes:owner><itunes:type>episodic</itunes:type>
<itunes:explicit>false</itunes:explicit><itunes:image href="${host.origin}/cover.png"/>
<itunes:category text="Arts"><itunes:category text="Books"/></itunes:category><itunes:category text="Comedy"/>
<podcast:guid>9b024349-ccf0-5f69-a609-6b82873eab3c</podcast:guid><podcast:locked>yes</podcast:locked>
${items}</channel></rss>`);
  const findings = async (xml: string, served: Partial<Served> = {}, audio: Partial<Served> = {}) => {
    serve('/cover.png', { type: 'image/png', body: png(1400, 1400) });
    for (const n of [1, 2, 3, 4])
      serve(`/e/${n}.mp3`, { type: 'audio/mpeg', body: Buffer.alloc(2048), ...(n === 2 && audio) });
    const url = serve('/feed.xml', { type: 'application/rss+xml; charset=utf-8', body: Buffer.from(xml), ...served });
    const found = await checkFeed(url, publicFetch);
    // The host of these tests is local itself.
    return found.filter(({ code }) => code !== 'address_local').map(({ severity, code }) => `${severity} ${code}`);
  };

  test('that directories take has no finding', async () => {
    expect(await findings(feed(item(1) + item(2)))).toEqual([]);
  });

  test('that names local or unencrypted addresses, its own address as its page, or no notes is told so', async () => {
    const warnings = async (xml: string) => {
      await findings(xml);
      return (await checkFeed(`${host.origin}/feed.xml`, publicFetch)).map(({ severity, code, text }) => [
        severity,
        code,
        text,
      ]);
    };
    const local = [
      'warning',
      'address_local',
      `3 addresses in the feed can be reached only on this machine or in its network, such as ${host.origin}/feed.xml: listeners and directories cannot.`,
    ];
    expect(await warnings(feed(item(1)))).toEqual([local]);
    const plain = feed(item(1), (xml) => xml.replace('https://harbour.example', 'http://harbour.example'));
    expect(await warnings(plain)).toEqual([
      local,
      [
        'warning',
        'address_not_https',
        '1 address in the feed begins with http instead of https, such as http://harbour.example/: some apps refuse it.',
      ],
    ]);
    const ownLink = feed(item(1), (xml) => xml.replace('https://harbour.example', `${host.origin}/feed.xml`));
    expect((await warnings(ownLink)).map(([, code]) => code)).toEqual(['address_local', 'link_is_feed']);
    const silent = feed(item(1, (xml) => xml.replace('<description>d</description>', '')));
    expect(await warnings(silent)).toEqual([
      local,
      ['warning', 'item_description_missing', '“Episode 1” has no description.'],
    ]);
    for (const address of [
      'http://localhost:8080/',
      'https://[::1]/',
      'https://10.1.2.3/',
      'https://studio/',
      'https://pc.local/',
    ])
      expect(await warnings(feed(item(1), (xml) => xml.replace('https://harbour.example', address)))).toEqual([
        ['warning', 'address_local', expect.stringMatching(/^4 addresses/)],
      ]);
  });

  test('without an episode is only a warning', async () => {
    expect(await findings(feed(''))).toEqual(['warning no_episodes']);
  });

  test.each<[string, (xml: string) => string, string[]]>([
    ['is cut off', (xml) => xml.slice(0, -20), ['error feed_not_well_formed']],
    ['is Atom', () => '<?xml version="1.0"?><feed/>', ['error not_rss']],
    ['has no declaration', (xml) => xml.slice(xml.indexOf('<rss')), ['error xml_declaration_missing']],
    ['lacks a namespace', (xml) => xml.replace(/ xmlns:content="[^"]*"/, ''), ['error namespace_missing']],
    [
      'lacks an author',
      (xml) => xml.replace(/<itunes:author>.*?<\/itunes:author>/, ''),
      ['error channel_element_missing'],
    ],
    [
      'lacks a guid',
      (xml) => xml.replace(/<podcast:guid>.*?<\/podcast:guid>/, ''),
      ['warning channel_element_missing'],
    ],
    ['says "clean"', (xml) => xml.replace('>false<', '>clean<'), ['error explicit_missing']],
    ['names no address of its own', (xml) => xml.replace('rel="self"', 'rel="alternate"'), ['error self_link_missing']],
    ['names another address', (xml) => xml.replace('/feed.xml', '/other.xml'), ['warning self_link_differs']],
    ['invents a category', (xml) => xml.replace('"Books"', '"books"'), ['error category_unknown']],
    ['has a long description', (xml) => xml.replace('Light', 'ä'.repeat(2001)), ['error description_too_long']],
    ['has no artwork', (xml) => xml.replace(/<itunes:image[^>]*\/>/, ''), ['error artwork_missing']],
    ['repeats a GUID', (xml) => xml.replace('g-2', 'g-1'), ['error guid_not_unique']],
    ['repeats an enclosure', (xml) => xml.replace('/2.mp3', '/1.mp3'), ['error enclosure_not_unique']],
    [
      'has an ISO date',
      (xml) => xml.replace('Sun, 01 Nov 2026 05:06:01 +0000', '2026-11-01T05:06:01Z'),
      ['error item_date_malformed'],
    ],
    ['has no length', (xml) => xml.replace('length="384"', ''), ['error enclosure_length']],
    [
      'has an enclosure without an address',
      (xml) => xml.replace(/<enclosure url="[^"]*1.mp3"/, '<enclosure'),
      ['error enclosure_missing'],
    ],
    [
      'has an enclosure without a media extension',
      (xml) => xml.replace('/1.mp3', '/1'),
      ['error enclosure_extension', 'error enclosure_head', 'error enclosure_range'],
    ],
    ['has an item without a title', (xml) => xml.replace('<title>Episode 1</title>', ''), ['error item_title_missing']],
  ])('that %s is told so', async (_fault, change, expected) => {
    expect(await findings(feed(item(1) + item(2), change))).toEqual(expected);
  });

  test.each<[string, Partial<Served>, string[]]>([
    ['has no ETag', { faults: ['no_etag'] }, ['warning feed_etag']],
    ['is sent whole each time', { faults: ['no_304'] }, ['error feed_not_modified']],
    ['answers no HEAD', { faults: ['no_head'] }, ['error feed_head']],
    ['is sent as HTML', { type: 'text/html' }, ['warning feed_type']],
  ])('that %s is told so', async (_fault, served, expected) => {
    expect(await findings(feed(item(1)), served)).toEqual(expected);
  });

  test.each<[string, Partial<Served>, string[]]>([
    ['answers no HEAD', { faults: ['no_head'] }, ['error enclosure_head']],
    ['ignores ranges', { faults: ['no_range'] }, ['error enclosure_range']],
    ['has no length', { faults: ['no_length'] }, ['error enclosure_no_length']],
    ['has another type', { type: 'audio/mp4' }, ['warning enclosure_type_differs']],
  ])('whose enclosure %s is told so', async (_fault, audio, expected) => {
    expect(await findings(feed(item(1) + item(2) + item(3)), {}, audio)).toEqual(expected);
  });

  test('that is not there, or at a private address, is one finding', async () => {
    expect((await checkFeed(`${host.origin}/none.xml`, publicFetch)).map(({ code }) => code)).toEqual([
      'feed_not_found',
    ]);
    const [finding] = await checkFeed('http://127.0.0.1:1/feed.xml', publicFetch);
    expect(finding?.text).toMatch(/^The feed cannot be fetched\. [A-Z][^()]+\.$/);
  });
});

describe('podcast.publish', () => {
  let served: PublicFetch;
  beforeAll(() => {
    served = management.publicFetch;
  });
  beforeEach(() => {
    management.publicFetch = served;
  });

  test('names everything that is missing and everything that is wrong over HTTP at once', async () => {
    const world = createWorld(management);
    const podcast = await world.send('podcast.create', null, {
      title: 'Harbour',
      language: 'en',
      artwork_url: 'https://cdn.example/cover.png',
    });
    const asked: string[] = [];
    management.publicFetch = async (url, options) => {
      asked.push(url);
      return { ...(await served(url, options)), status: 200 };
    };
    const problem = await refusalOf(world.send('podcast.publish', podcast, {}));
    expect([problem.code, problem.message]).toEqual([
      'podcast_not_ready',
      'Before publishing, “Harbour” still needs a description, an author, and a category. The artwork answers a byte range with 200; directories need 206.',
    ]);
    expect(problem.context.errors?.map(({ path, code }) => `${path} ${code}`)).toEqual([
      '/attributes/description missing',
      '/attributes/author missing',
      '/attributes/categories missing',
      '/attributes/artwork_url artwork_range',
    ]);
    // The rendition that the feed names, not the address it was made from.
    expect(new Set(asked)).toEqual(new Set([`${mediaUrl}/delivery/v1/i/${'a'.repeat(64)}/1400.png`]));
  });

  test('waits a moment for artwork that Public Delivery does not serve yet', async () => {
    const world = createWorld(management);
    const podcast = await world.readyPodcast();
    let asked = 0;
    management.publicFetch = async (url, options) =>
      ++asked > 2 ? served(url, options) : { ...(await served(url, options)), status: 404 };
    expect((await world.send('podcast.publish', podcast, {})).lifecycle_state).toBe('published');
    expect(asked).toBe(5);
  });

  test('refuses while a published episode has no audio, and accepts when it has', async () => {
    const world = createWorld(management);
    const podcast = await world.readyPodcast();
    const episode = await world.audibleEpisode(podcast);
    await world.send('episode.publish', episode, {});
    const problem = await refusalOf(world.send('podcast.publish', podcast, {}));
    expect(problem.context.errors?.map(({ path, code }) => `${path} ${code}`)).toEqual([
      `/episodes/${episode.id} episode_has_no_audio`,
    ]);
    await management.store.put(world.completion.files[0]!.storage_key, Buffer.alloc(384), {
      contentType: 'audio/mpeg',
    });
    const published = await world.send('podcast.publish', podcast, {});
    expect(published.lifecycle_state).toBe('published');
  });

  test('a published podcast cannot lose attributes that its feed requires', async () => {
    const world = createWorld(management);
    const published = await world.publishedPodcast();
    const problem = await refusalOf(world.send('podcast.revise', published, { description: ' ', categories: [] }));
    expect([problem.code, problem.message]).toEqual([
      'podcast_not_ready',
      'A published podcast needs a description and a category. Unpublish it first.',
    ]);
  });
});
