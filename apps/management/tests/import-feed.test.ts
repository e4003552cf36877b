import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Problem } from '@longwave/problems';
import { podcastGuid } from '../src/hosting/podcasts/podcast.ts';
import { feed, simpleItem, startImportHost, type ImportHost } from './_import-host.ts';
import { preparedArtwork } from './_management.ts';
import { createWorld } from './_world.ts';

let host: ImportHost;
let management: ImportHost['management'];
let origin: ImportHost['origin'];
let pages: ImportHost['pages'];
let productionsOf: ImportHost['productionsOf'];
let imported: ImportHost['imported'];
let refusal: ImportHost['refusal'];
let reportOf: ImportHost['reportOf'];
beforeAll(async () => {
  host = await startImportHost();
  ({ management, origin, pages, productionsOf, imported, refusal, reportOf } = host);
});
afterAll(async () => host?.[Symbol.asyncDispose]());
afterEach(() => host.clear());

test('an import keeps the whole feed: the channel, the items, their GUIDs and their dates', async () => {
  pages.set('/chapters.json', {
    body: JSON.stringify({
      version: '1.2.0',
      chapters: [
        { startTime: 60.5, title: 'The pier', url: 'https://example.com/pier' },
        { startTime: 0, title: 'Hello', img: 'https://example.com/hello.png', endTime: 60.5 },
        { startTime: 90, toc: false },
        { startTime: 'later', title: 'No number' },
      ],
    }),
    type: 'application/json+chapters',
  });
  pages.set('/one.vtt', { body: 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello', type: 'text/vtt' });
  pages.set('/one.de.srt', { body: '1\n00:00:00,000 --> 00:00:01,000\nHallo\n', type: 'application/srt' });
  pages.set('/broken.vtt', { body: 'No WebVTT at all', type: 'text/vtt' });
  pages.set('/whole.xml', {
    body: feed(
      `<title>Harbour &amp; Light</title><description><![CDATA[<p>Boats & lights</p>]]></description>
       <language>EN-us</language><link>https://example.com/</link><copyright>© 2020 Mary</copyright>
       <itunes:author>Mary</itunes:author><itunes:owner><itunes:name>Mary Inc.</itunes:name><itunes:email>mary@example.com</itunes:email></itunes:owner>
       <itunes:image href="https://cdn.example/cover.jpg"/><itunes:explicit>yes</itunes:explicit><itunes:type>Serial</itunes:type>
       <itunes:category text="Society &amp; Culture"><itunes:category text="documentary"/></itunes:category>
       <itunes:category text="Science"><itunes:category text="Alchemy"/></itunes:category><itunes:category text="Gossip"/>
       <podcast:guid>917393E3-1B1E-5CEF-ACE4-EDAA54E1F810</podcast:guid><podcast:locked owner="mary@example.com">no</podcast:locked>
       <podcast:funding url="https://example.com/give">Help us</podcast:funding>
       <podcast:person role="Host" href="https://example.com/mary">Mary</podcast:person>
       <podcast:medium>podcast</podcast:medium><podcast:location geo="geo:1,2" osm="R113314">Harbour</podcast:location>
       <podcast:txt purpose="verify">abc</podcast:txt><podcast:license>cc-by-4.0</podcast:license>`,
      `<item><title>Two</title><guid>b-2</guid><pubDate>Tue, 02 Jun 2020 08:00:00 +0200</pubDate>
         <enclosure url="https://cdn.example/2.m4a" type="audio/x-m4a" length="5"/>
         <itunes:season>1</itunes:season><itunes:episode>2</itunes:episode><itunes:episodeType>bonus</itunes:episodeType>
         <itunes:explicit>clean</itunes:explicit><link>https://example.com/2</link></item>
       <item><title>One</title><guid isPermaLink="true">https://example.com/1</guid><pubDate>1 Jun 2020 06:00 EST</pubDate>
         <description>Short</description><content:encoded><![CDATA[<p>Long & good</p>]]></content:encoded>
         <enclosure url="https://cdn.example/1.mp3?a=1&amp;b=2" type="audio/mpeg" length="5"/>
         <podcast:chapters url="${origin}/chapters.json" type="application/json+chapters"/>
         <podcast:transcript url="${origin}/one.vtt" type="text/vtt" rel="captions"/>
         <podcast:transcript url="${origin}/one.de.srt" type="application/srt" language="de"/>
         <podcast:transcript url="${origin}/broken.vtt" type="text/vtt" language="fr"/>
         <podcast:transcript url="${origin}/missing.html" type="text/html"/>
         <podcast:soundbite startTime="1.5" duration="30">A bit</podcast:soundbite></item>`,
    ),
  });
  const { accepted, podcast, episodes } = await imported('/whole.xml');
  expect(accepted.lifecycle_state).toBe('draft');
  expect(podcast).toMatchObject({
    title: 'Harbour & Light',
    description: '<p>Boats &amp; lights</p>',
    language: 'en-us',
    link: 'https://example.com/',
    copyright: '© 2020 Mary',
    author: 'Mary',
    owner_name: 'Mary Inc.',
    owner_email: 'mary@example.com',
    artwork_url: 'https://cdn.example/cover.jpg',
    artwork: preparedArtwork,
    explicit: true,
    type: 'serial',
    categories: ['Society & Culture > Documentary', 'Science'],
    podcast_guid: '917393e3-1b1e-5cef-ace4-edaa54e1f810',
    locked: true,
    funding: [{ url: 'https://example.com/give', text: 'Help us' }],
    persons: [{ name: 'Mary', role: 'host', link: 'https://example.com/mary' }],
    medium: 'podcast',
    location: { name: 'Harbour', geo: 'geo:1,2', osm: 'R113314' },
    texts: [{ purpose: 'verify', value: 'abc' }],
    license: { id: 'cc-by-4.0' },
    import: { feed_url: `${origin}/whole.xml`, total: 2, done: 2, failed: 0 },
  });
  expect(await management.store.find(podcast.import!.storage_key)).toBeDefined();
  expect(podcast.import!.storage_key).toBe(`imports/${podcast.import!.sha256}.xml`);

  const [one, two] = episodes;
  expect(one!.attributes).toMatchObject({
    guid: 'https://example.com/1',
    title: 'One',
    description: '<p>Long &amp; good</p>',
    published_at: '2020-06-01T11:00:00.000Z',
    soundbites: [{ start_ms: 1500, duration_ms: 30_000, title: 'A bit' }],
    chapters: [
      { start_ms: 0, end_ms: 60_500, title: 'Hello', image_url: 'https://example.com/hello.png' },
      { start_ms: 60_500, title: 'The pier', url: 'https://example.com/pier' },
      { start_ms: 90_000, title: 'Chapter 3', toc: false },
    ],
    transcripts: [
      { language: 'en-us', captions: true, cue_count: 1 },
      { language: 'de', cue_count: 1 },
    ],
  });
  expect(two!.attributes).toMatchObject({
    guid: 'b-2',
    title: 'Two',
    season: 1,
    number: 2,
    type: 'bonus',
    explicit: false,
    link: 'https://example.com/2',
    published_at: '2020-06-02T06:00:00.000Z',
  });
  const [production] = await productionsOf(one!);
  expect(production).toMatchObject({ lifecycle_state: 'encoding' });
  expect(production!.attributes).toMatchObject({
    file_url: 'https://cdn.example/1.mp3?a=1&b=2',
    imported: true,
    publication_flag: false,
  });
  expect(production!.attributes['encoding_month']).toBeUndefined();
  const { rows } = await management.pool.query(
    `select kind, input ->> 'source_url' as source_url from job where subject_id = $1`,
    [production!.id],
  );
  expect(rows).toEqual([{ kind: 'encode_production', source_url: 'https://cdn.example/1.mp3?a=1&b=2' }]);
});

test('everything that the feed standard knows is imported, under any prefix; the report names the rest item by item', async () => {
  const recipient = (address: string) => `<p20:valueRecipient type="node" address="${address}" split="50"/>`;
  pages.set('/rich.xml', {
    body: `<?xml version="1.0"?><!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://my.netscape.com/rss-0.91.dtd">
      <rss version="2.0" xmlns:apple="http://www.itunes.com/DTDs/Podcast-1.0.dtd" xmlns:p20="https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md"
        xmlns:body="http://purl.org/rss/1.0/modules/content/" xmlns:m="http://search.yahoo.com/mrss/" xmlns:own="https://host.example/ns">
      <channel><title>Rich</title><description>Long</description><apple:summary>Short</apple:summary><apple:subtitle>Sub</apple:subtitle>
      <apple:keywords>sea, ships,sea</apple:keywords><managingEditor>ed@example.com (Ed)</managingEditor><apple:author>Mary</apple:author>
      <apple:category text="Games &amp; Hobbies"><apple:category text="Video Games"/></apple:category><apple:category text="Gossip"/>
      <p20:trailer pubdate="Mon, 01 Jun 2020 06:00:00 GMT" url="https://cdn.example/trailer.mp3" length="9" type="audio/mpeg" season="2">Soon</p20:trailer>
      <p20:trailer pubdate="Mon, 01 Jun 2020 06:00:00 GMT" url="https://cdn.example/1.mp3">An item</p20:trailer>
      <p20:liveItem status="live" start="2026-01-01T00:00:00Z"><title>Live</title></p20:liveItem>
      <p20:liveItem status="pending" start="2026-01-08T00:00:00Z"><title>Live</title><enclosure url="https://cdn.example/live"/></p20:liveItem>
      <p20:value type="lightning" method="keysend">${recipient('abc')}${recipient('')}</p20:value>
      <item><title>One</title><guid>one</guid><pubDate>Mon, 01 Jun 2020 06:00:00 GMT</pubDate>
        <description>Short notes</description><body:encoded><![CDATA[<p>Long notes</p>]]></body:encoded>
        <apple:summary>Another</apple:summary><apple:subtitle>Item sub</apple:subtitle><apple:author>Ben</apple:author>
        <apple:keywords>tide</apple:keywords><apple:season>3</apple:season><apple:order>7</apple:order>
        <m:thumbnail url="https://cdn.example/small.jpg"/><p20:images srcset="https://cdn.example/a.jpg 600w, https://cdn.example/b.jpg 3000w"/>
        <m:content url="https://cdn.example/1.mp3" type="audio/mpeg" medium="audio"/>
        <p20:alternateEnclosure type="video/mp4" length="5" height="720" lang="en" default="true"><p20:source uri="https://cdn.example/1.mp4"/><p20:integrity type="sri" value="sha384-x"/></p20:alternateEnclosure>
        <p20:alternateEnclosure type="application/x-mpegURL" length="0" bitrate="171526" lang="en" title="Audio (HLS)" codecs="mp4a.40.2" default="false"><p20:source uri="https://cdn.example/1.m3u8"/></p20:alternateEnclosure>
        <p20:value type="lightning" method="keysend">${recipient('abc')}<p20:valueTimeSplit startTime="60" duration="30.5" remoteStartTime="2" remotePercentage="90"><p20:remoteItem feedGuid="917393e3-1b1e-5cef-ace4-edaa54e1f810" itemGuid="x"/></p20:valueTimeSplit></p20:value>
        <p20:transcript url="https://cdn.example/1.html" type="text/html"/><own:mood happy="yes"/></item></channel></rss>`,
  });
  const { accepted, podcast, episodes } = await imported('/rich.xml');
  expect(podcast).toMatchObject({
    description: 'Long',
    summary: 'Short',
    subtitle: 'Sub',
    author: 'Mary',
    keywords: ['sea', 'ships'],
    managing_editor: 'ed@example.com (Ed)',
    categories: ['Leisure > Video Games'],
    trailers: [
      {
        title: 'Soon',
        url: 'https://cdn.example/trailer.mp3',
        published_at: '2020-06-01T06:00:00.000Z',
        content_type: 'audio/mpeg',
        size_bytes: 9,
        season: 2,
      },
    ],
    value: { recipients: [{ address: 'abc', split: 50, type: 'node' }] },
  });
  expect(episodes[0]!.attributes).toMatchObject({
    description: '<p>Long notes</p>',
    summary: 'Short notes',
    subtitle: 'Item sub',
    author: 'Ben',
    keywords: ['tide'],
    season: 3,
    artwork_url: 'https://cdn.example/b.jpg',
    alternate_enclosures: [
      {
        content_type: 'video/mp4',
        size_bytes: 5,
        height: 720,
        language: 'en',
        default: true,
        sources: [{ uri: 'https://cdn.example/1.mp4' }],
        integrity: { type: 'sri', value: 'sha384-x' },
      },
      {
        ...{ content_type: 'application/x-mpegURL', size_bytes: 0, bitrate: 171_526, language: 'en', default: false },
        ...{ title: 'Audio (HLS)', codecs: 'mp4a.40.2', sources: [{ uri: 'https://cdn.example/1.m3u8' }] },
      },
    ],
    value: {
      time_splits: [
        {
          start_ms: 60_000,
          duration_ms: 30_500,
          remote_start_ms: 2000,
          remote_percentage: 90,
          remote_item: { feed_guid: '917393e3-1b1e-5cef-ace4-edaa54e1f810', item_guid: 'x' },
        },
      ],
    },
  });
  const notes = async (position: number) => {
    const { rows } = await management.pool.query<{ notes: { kind: string; field: string; detail: string }[] }>(
      'select notes from import_item where podcast_id = $1 and position = $2',
      [accepted.id, position],
    );
    return rows[0]!.notes.map(({ kind, field, detail }) => `${kind} ${field}: ${detail}`);
  };
  expect(await notes(0)).toEqual([
    'lost podcast:liveItem: Live streams are not hosted here, so this live item was not imported: “Live”, status “live”, start “2026-01-01T00:00:00Z”.',
    'lost podcast:liveItem: Live streams are not hosted here, so this live item was not imported: “Live”, status “pending”, start “2026-01-08T00:00:00Z”.',
    'changed categories: “Games & Hobbies > Video Games” is now called “Leisure > Video Games”.',
    'lost categories: “Gossip” is not a category of Apple Podcasts.',
    'lost value.recipients[1]: It has no “address”.',
  ]);
  expect(await notes(1)).toEqual([
    'changed enclosure: The item has no enclosure. The file of its media:content is used instead.',
    'lost itunes:summary: Another description is used instead of “Another”.',
    'lost transcripts: Only VTT, SRT and JSON can be imported. The feed says “text/html”.',
    'lost apple:order: This service has no field for it: “7”.',
    'lost own:mood: This service has no field for it.',
  ]);
  expect((await reportOf(accepted)).map(({ state, guid, problem }) => [state, guid, problem])).toEqual([
    ['encoding', 'one', null],
  ]);
});

test('a faulty feed is imported as far as it can be read', async () => {
  const long = `<p>${'é'.repeat(60_000)}</p>`;
  const whole = `<p>${'Notes of a long episode. '.repeat(1600)}</p>`;
  pages.set('/nasty.xml', {
    body: feed(
      // No language, no guid, an owner's address without an @, a broken number of nesting levels of text.
      '<title> Nasty\n\tshow &#0;&#x1F6A2;&nbsp;&unknown;</title><itunes:owner><itunes:email>nobody</itunes:email></itunes:owner>',
      [
        simpleItem(1, '<description><![CDATA[</item><item><guid>fake</guid>]]></description>'),
        '<!-- <item><guid>commented</guid></item> -->',
        '<item><title>Same again</title><guid> guid-1 </guid><enclosure url="https://cdn.example/x.mp3" type="audio/mpeg"/></item>',
        '<item><title>No guid</title><enclosure url="http://cdn.example/no-guid.mp3" type="audio/mpeg"/><pubDate>2 days ago</pubDate></item>',
        `<item><guid>long</guid><title>${'t'.repeat(400)}</title><description><![CDATA[${long}]]></description><pubDate>2019-05-04T03:02:01Z</pubDate><enclosure url="https://cdn.example/l.mp3"/></item>`,
        `<item><title>Future</title><description>Short</description><content:encoded><![CDATA[<script>alert(1)</script>${whole}]]></content:encoded><guid>future</guid><pubDate>Fri, 01 Jan 2999 00:00:00 GMT</pubDate><enclosure url="https://cdn.example/f.mp3"/></item>`,
        '<item><title>Silent</title><guid>silent</guid></item>',
        '<item></item>',
        '<item><guid>broken</guid><title>Broken <b>tag</title><enclosure url="javascript:alert(1)"/></item>',
        `<item><guid>deep</guid><title>Deep</title>${'<a>'.repeat(60)}${'</a>'.repeat(60)}</item>`,
        '<item><guid>proto</guid><title>Proto</title><__proto__><x>1</x></__proto__><constructor>2</constructor><enclosure url="https://cdn.example/p.mp3"/></item>',
      ].join('\n'),
    ),
  });
  const { accepted, podcast, episodes } = await imported('/nasty.xml');
  expect(podcast).toMatchObject({
    title: 'Nasty show 🚢 &unknown;',
    language: 'en',
    description: '',
    explicit: false,
    categories: [],
    podcast_guid: podcastGuid(`${origin}/nasty.xml`),
  });
  expect(podcast.owner_email).toBeUndefined();
  const byGuid = new Map(episodes.map(({ attributes }) => [attributes.guid, attributes]));
  expect([...byGuid.keys()].sort()).toEqual(
    ['broken', 'future', 'guid-1', 'http://cdn.example/no-guid.mp3', 'long', 'proto', 'silent'].sort(),
  );
  expect(byGuid.get('guid-1')).toMatchObject({
    title: 'Episode 1',
    description: 'fake',
  });
  expect(byGuid.get('future')).toMatchObject({ publish_at: '2999-01-01T00:00:00.000Z' });
  expect(byGuid.get('future')!['published_at']).toBeUndefined();
  const importedAt = Date.parse(String(byGuid.get('silent')!['published_at']));
  expect(importedAt).toBeLessThanOrEqual(Date.now());
  expect(byGuid.get('http://cdn.example/no-guid.mp3')!['published_at']).toBe(new Date(importedAt).toISOString());
  const { title, description, published_at: publishedAt } = byGuid.get('long')!;
  expect(title).toHaveLength(255);
  expect(Buffer.byteLength(description!)).toBeLessThanOrEqual(100_000);
  expect(description).toMatch(/^<p>é{49000,}…<\/p>$/);
  expect(byGuid.get('future')!['description']).toBe(whole);
  expect(publishedAt).toBe('2019-05-04T03:02:01.000Z');
  // Failed: silent and broken (no address of audio), the repeated GUID, the empty item, the too deep one.
  expect(podcast.import).toMatchObject({ total: 10, done: 5, failed: 5 });
  const report = await reportOf(accepted);
  expect(report.filter(({ state }) => state === 'failed').map(({ guid, problem }) => [guid, problem])).toEqual([
    ['guid-1', 'It has the same guid as item 1, which is imported.'],
    ['silent', 'The item names no file at a web address, so the episode has no audio.'],
    ['', 'The item has neither guid, file, link nor title.'],
    ['broken', 'The item names no file at a web address, so the episode has no audio.'],
    ['', 'The item cannot be read as XML: more than 40 elements inside each other.'],
  ]);
  expect(report.find(({ guid }) => guid === 'broken')!.notes).toContainEqual(
    expect.objectContaining({ kind: 'changed', field: 'xml' }),
  );
});

test.each([
  ['a web page', { body: '<!doctype html><html><body>Hi</body></html>', type: 'text/html' }, 'is not the RSS feed'],
  ['an Atom feed', { body: '<feed xmlns="http://www.w3.org/2005/Atom"><entry/></feed>' }, 'is not the RSS feed'],
  ['nothing', { body: '' }, 'is not the RSS feed'],
  ['JSON', { body: '{"title":"x"}' }, 'is not the RSS feed'],
  ['no channel', { body: '<rss version="2.0"></rss>' }, 'is not the RSS feed'],
  ['no title', { body: feed('', simpleItem(1)) }, 'no title'],
  ['no items', { body: feed('<title>Empty</title>', '') }, 'The feed of “Empty” has no episodes.'],
  ['a missing page', { body: 'gone', status: 404 }, 'status 404'],
  [
    'an unknown encoding',
    { body: feed('<title>x</title>', simpleItem(1)), type: 'text/xml; charset=klingon' },
    'encoding',
  ],
  ['a deeply nested channel', { body: feed(`<title>x</title>${'<a>'.repeat(5000)}`, simpleItem(1)) }, 'not valid XML'],
  [
    'entities that expand without end',
    {
      body: feed(
        '<title>&lol9;</title>',
        simpleItem(1),
        `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY lol "lol">${Array.from(
          { length: 9 },
          (_v, n) => `<!ENTITY lol${n + 1} "${`&lol${n || ''};`.repeat(10)}">`,
        ).join('')}]>`,
      ),
    },
    'The DOCTYPE of the feed declares its own entities or elements.',
  ],
])('%s is not importable, and says so', async (_kind, page, words) => {
  pages.set('/x.xml', page);
  const problem = await refusal('/x.xml');
  expect(problem.code).toBe('feed_not_importable');
  expect(problem.message).toContain(words);
});

test('a host that cannot be reached, a private address and a feed without end are not importable', async () => {
  const world = createWorld(management);
  const attempt = (feedUrl: string) =>
    world.send('podcast.import_feed', null, { feed_url: feedUrl }).catch((reason: unknown) => reason as Problem);
  for (const url of ['http://127.0.0.1:1/feed.xml', 'https://169.254.169.254/latest', 'https://u:p@example.com/'])
    expect(await attempt(url)).toMatchObject({ code: 'feed_not_importable' });
  pages.set('/large.xml', { body: Buffer.alloc(50_000_001, ' ') });
  expect((await refusal('/large.xml')).message).toBe('The file is larger than 50 MB.');
});

test('a locked feed is not imported', async () => {
  pages.set('/locked.xml', {
    body: feed('<title>Fort</title><podcast:locked owner="a@example.com"> YES </podcast:locked>', simpleItem(1)),
  });
  expect(await refusal('/locked.xml')).toMatchObject({
    code: 'feed_locked',
    message: 'The feed of “Fort” is locked. Set podcast:locked to “no” at the current host, then try again.',
  });
});

test('artwork that is not acceptable does not stop the import', async () => {
  management.prepareArtwork = async () => {
    throw new Problem('artwork_not_acceptable', 'The image is 300 pixels wide.');
  };
  pages.set('/a.xml', {
    body: feed('<title>A</title><itunes:image href="https://cdn.example/small.gif"/>', simpleItem(1)),
  });
  const { podcast } = await imported('/a.xml');
  expect(podcast.artwork_url).toBe('https://cdn.example/small.gif');
  expect(podcast.artwork).toBeUndefined();
});

test('a feed in an older encoding is read, and keeps its letters', async () => {
  pages.set('/latin.xml', {
    body: Buffer.from(
      feed('<title>Café</title>', simpleItem(1), '<?xml version="1.0" encoding="ISO-8859-1"?>'),
      'latin1',
    ),
  });
  expect((await imported('/latin.xml')).podcast.title).toBe('Café');
});

test('older pages of a feed are imported', async () => {
  const next = (path: string) => `<title>Paged</title><atom:link rel="next" href="${path}"/>`;
  pages.set('/p.xml', { body: feed(next('/p.xml?page=2'), simpleItem(5) + simpleItem(4)) });
  pages.set('/p.xml?page=2', { body: feed(next(`${origin}/p.xml?page=3`), simpleItem(3) + simpleItem(2)) });
  // The last page leads to the first one again.
  pages.set('/p.xml?page=3', { body: feed(next('/p.xml'), simpleItem(1)) });
  const { podcast, episodes } = await imported('/p.xml');
  expect(episodes.map(({ attributes }) => attributes['title'])).toEqual(
    [1, 2, 3, 4, 5].map((number) => `Episode ${number}`),
  );
  expect(podcast.import).toMatchObject({ total: 5, done: 5, failed: 0 });
});
