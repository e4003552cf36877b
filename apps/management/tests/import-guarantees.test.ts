import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { feed, simpleItem, startImportHost, type ImportHost } from './_import-host.ts';
import { createWorld } from './_world.ts';

let host: ImportHost;
let management: ImportHost['management'];
let origin: ImportHost['origin'];
let pages: ImportHost['pages'];
let asked: ImportHost['asked'];
let productionsOf: ImportHost['productionsOf'];
let imported: ImportHost['imported'];
let reportOf: ImportHost['reportOf'];
beforeAll(async () => {
  host = await startImportHost();
  ({ management, origin, pages, asked, productionsOf, imported, reportOf } = host);
});
afterAll(async () => host?.[Symbol.asyncDispose]());
afterEach(() => host.clear());

const itemOf = (guid: string, enclosureUrl: string) =>
  `<item><title>${guid}</title><guid>${guid}</guid><enclosure url="${enclosureUrl}" type="audio/mpeg" length="3"/></item>`;

test('a feed cannot import an upload of another account, only one of its own account', async () => {
  const world = createWorld(management);
  const fileUrl = async (from: typeof world) => String((await from.upload()).attributes['file_url']);
  const own = await fileUrl(world);
  const victim = await fileUrl(createWorld(management));
  pages.set('/theft.xml', {
    body: feed('<title>Theft</title>', itemOf('own', own) + itemOf('stolen', victim)),
  });
  const { podcast, episodes } = await imported('/theft.xml', world);
  expect(podcast.import).toMatchObject({ total: 2, done: 1, failed: 1 });
  const byGuid = new Map(episodes.map((episode) => [episode.attributes['guid'], episode]));
  expect(await productionsOf(byGuid.get('stolen')!)).toEqual([]);
  expect((await productionsOf(byGuid.get('own')!)).map(({ attributes }) => attributes['file_url'])).toEqual([own]);
});

test('a transcript that cannot be stored does not keep the others out; a long one is stored as WebVTT', async () => {
  const segments = (count: number) =>
    JSON.stringify({
      segments: Array.from({ length: count }, (_v, n) => ({
        startTime: n,
        endTime: n + 1,
        body: 'word',
        speaker: null,
      })),
    });
  const vtt = 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello';
  pages.set('/wordy.json', { body: segments(20_000), type: 'application/json' });
  pages.set('/endless.json', { body: segments(60_000), type: 'application/json' });
  pages.set('/good.vtt', { body: vtt, type: 'text/vtt' });
  const transcript = (path: string, type: string, language: string) =>
    `<podcast:transcript url="${origin}${path}" type="${type}" language="${language}"/>`;
  pages.set('/transcripts.xml', {
    body: feed(
      '<title>Transcripts</title><language>en</language>',
      simpleItem(
        1,
        transcript('/wordy.json', 'application/json', 'fr') +
          transcript('/endless.json', 'application/json', 'en') +
          transcript('/good.vtt', 'text/vtt', 'en') +
          transcript('/good.vtt', 'text/vtt', 'English, of a sort') +
          transcript('/good.vtt', 'text/vtt', 'pt_BR'),
      ),
    ),
  });
  const { podcast, episodes } = await imported('/transcripts.xml');
  expect(podcast.import).toMatchObject({ done: 1, failed: 0 });
  expect(episodes[0]!.attributes['transcripts']).toMatchObject([
    { language: 'fr', cue_count: 20_000, captions: false },
    { language: 'en', cue_count: 1, captions: true },
    { language: 'pt-BR', cue_count: 1 },
  ]);
});

test('only a host that does not answer gets no further requests; one that answers 404 still does', async () => {
  const tags = (n: number) =>
    `<podcast:transcript url="${origin}/gone-${n}.vtt" type="text/vtt"/><podcast:transcript url="${origin}/latin-${n}.vtt" type="text/vtt"/>`;
  for (let n = 0; n < 6; n++) pages.set(`/latin-${n}.vtt`, { body: Buffer.from('WEBVTT \xe9', 'latin1') });
  pages.set('/good.vtt', { body: 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello', type: 'text/vtt' });
  const items = Array.from({ length: 6 }, (_v, n) => simpleItem(n + 1, tags(n)));
  const last = simpleItem(20, `<podcast:transcript url="${origin}/good.vtt" type="text/vtt"/>`);
  pages.set('/gone.xml', { body: feed('<title>Gone</title>', [last, ...items].join('')) });
  const { episodes } = await imported('/gone.xml');
  expect(asked.filter((path) => /gone-|latin-/.test(path))).toHaveLength(12);
  const good = episodes.find(({ attributes }) => attributes['guid'] === 'guid-20');
  expect(good!.attributes['transcripts']).toMatchObject([{ cue_count: 1 }]);
});

test('no value of a podcast tag carries a control character, and no address a line break', async () => {
  const broken = 'https://cdn.example/a&#13;&#10;Host: evil';
  pages.set('/lines.xml', {
    body: feed(
      `<title>Lines&#13;&#10;and&#27; more</title><podcast:txt purpose="a&#13;&#10;b">one&#13;&#10;two&#8;</podcast:txt>
       <podcast:funding url="${broken}">Give&#13;&#10;more</podcast:funding>
       <podcast:license url="${broken}">cc&#13;&#10;by</podcast:license>
       <podcast:person href="${broken}" img="${broken}">Ada&#13;&#10;Quay&#0;</podcast:person>
       <podcast:value type="lightning" method="keysend">
         <podcast:valueRecipient name="A&#13;&#10;B" type="node" address="ab&#13;&#10;cd&#1;" split="1"/></podcast:value>`,
      simpleItem(1, `<podcast:socialInteract protocol="activitypub" uri="x" accountUrl="${broken}"/>`),
    ),
  });
  const { accepted, podcast, episodes } = await imported('/lines.xml');
  expect(podcast).toMatchObject({
    title: 'Lines and more',
    texts: [{ purpose: 'a b', value: 'one\r\ntwo' }],
    license: { id: 'cc by' },
    persons: [{ name: 'Ada Quay' }],
    value: { recipients: [{ name: 'A B', address: 'ab\r\ncd' }] },
  });
  expect(podcast).not.toHaveProperty('funding');
  expect(episodes[0]!.attributes['social_interact']).toEqual([{ protocol: 'activitypub', uri: 'x' }]);
  const kept = JSON.stringify([podcast, episodes.map(({ attributes }) => attributes)]);
  expect(kept).not.toMatch(/evil/);
  // JSON writes control characters as escapes.
  expect(kept).not.toMatch(/\\(u00|b|f)/);
  const lost = (await reportOf(accepted)).flatMap(({ notes }) => notes.map(({ kind, field }) => `${kind} ${field}`));
  expect(lost).toEqual(expect.arrayContaining(['lost social_interact[0].account_url']));
});

test('every item of a feed counts once: a repeated GUID is not imported', async () => {
  pages.set('/twice.xml', { body: feed('<title>Twice</title>', simpleItem(1) + simpleItem(2) + simpleItem(1)) });
  expect((await imported('/twice.xml')).podcast.import).toMatchObject({ total: 3, done: 2, failed: 1 });
});

test('a feed whose older page fails is imported without it', async () => {
  pages.set('/part.xml', {
    body: feed('<title>Part</title><atom:link rel="next" href="/part.xml?page=2"/>', simpleItem(2)),
  });
  pages.set('/part.xml?page=2', { body: 'try again later', status: 503 });
  expect((await imported('/part.xml')).podcast.import).toMatchObject({ total: 1, done: 1, failed: 0 });
});
