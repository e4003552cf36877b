import { readdirSync, readFileSync } from 'node:fs';
import { expect, describe, test } from '@jest/globals';
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { asciiUrl, clipDescription, rfc2822Date } from '../src/feed-text.ts';
import { renderFeed } from '../src/index.ts';
import { namespaceFindings } from './_check-namespace.ts';
import { casesFolder, readCase, textOf } from './_feed-of-case.ts';

const names = readdirSync(casesFolder)
  .filter((file) => file.endsWith('.xml'))
  .map((file) => file.slice(0, -4));

type Node = Record<string, unknown>;
const parser = new XMLParser({
  ignoreAttributes: false,
  parseTagValue: false,
  trimValues: false,
  isArray: (name) => name === 'item',
  alwaysCreateTextNode: false,
});
const channelOf = (xml: string) => (parser.parse(xml) as { rss: { channel: Node } }).rss.channel;
const itemsOf = (xml: string) => (channelOf(xml)['item'] ?? []) as Node[];

/** Violations of PSP-1 and Apple's requirements. */
function findings(xml: string): string[] {
  const found: string[] = [];
  const demand = (holds: boolean, finding: string) => void (holds || found.push(finding));
  demand(XMLValidator.validate(xml) === true, 'not well-formed');
  demand(xml.startsWith('<?xml version="1.0" encoding="UTF-8"?>'), 'no XML declaration');
  const { rss } = parser.parse(xml) as { rss: Node };
  demand(rss['@_version'] === '2.0', 'not RSS 2.0');
  demand(rss['@_xmlns:itunes'] === 'http://www.itunes.com/dtds/podcast-1.0.dtd', 'itunes namespace');
  demand(rss['@_xmlns:content'] === 'http://purl.org/rss/1.0/modules/content/', 'content namespace');
  const channel = rss['channel'] as Node;
  const links = [channel['atom:link']].flat() as Node[];
  const self = links.find((link) => link['@_rel'] === 'self');
  demand(typeof self?.['@_href'] === 'string', 'channel atom:link rel=self');
  for (const name of [
    'title',
    'description',
    'link',
    'language',
    'itunes:category',
    'itunes:image',
    'podcast:guid',
    'podcast:locked',
    'itunes:author',
  ])
    demand(channel[name] !== undefined, `channel ${name}`);
  demand(/^(true|false)$/.test(String(channel['itunes:explicit'])), 'channel itunes:explicit');
  demand(Buffer.byteLength(String(channel['description'])) <= 4000, 'channel description above 4000 bytes');
  const items = itemsOf(xml);
  for (const item of items) {
    const enclosure = item['enclosure'] as Node | undefined;
    for (const name of ['title', 'guid', 'pubDate', 'itunes:duration'])
      demand(item[name] !== undefined, `item ${name}`);
    demand(/\.mp3$/.test(String(enclosure?.['@_url'])), 'enclosure ends in a known extension');
    demand(/^[!-~]+$/.test(String(enclosure?.['@_url'])), 'enclosure url in ASCII');
    demand(
      /^\d+$/.test(String(enclosure?.['@_length'])) && enclosure?.['@_type'] === 'audio/mpeg',
      'enclosure length and type',
    );
    demand(/^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} \+0000$/.test(String(item['pubDate'])), 'pubDate is RFC 2822');
  }
  const distinct = (values: unknown[]) => new Set(values).size === values.length;
  demand(distinct(items.map((item) => (item['guid'] as Node)['#text'])), 'guids are distinct');
  demand(distinct(items.map((item) => (item['enclosure'] as Node)['@_url'])), 'enclosures are distinct');
  return found;
}

describe.each(names)('the feed of cases/%s.json', (name) => {
  test('is the golden text, however its episodes are batched', async () => {
    const xml = await textOf(readCase(name));
    expect(xml).toBe(readFileSync(new URL(`${name}.xml`, casesFolder), 'utf8'));
    expect(await textOf(readCase(name), 100)).toBe(xml);
  });
  test('has everything that PSP-1 and Apple require, and nothing that the Podcasting 2.0 namespace does not define', async () => {
    const xml = await textOf(readCase(name));
    expect([...findings(xml), ...namespaceFindings(xml)]).toEqual([]);
  });
});

const base = readCase('serial');
const [firstEpisode] = base.episodes;

test('any text stays well-formed and comes back, but for what XML forbids', async () => {
  // A parser may turn CR into LF (XML 1.0 §2.11), so texts are compared without it.
  const text = fc
    .string({
      unit: fc.oneof(
        fc.constantFrom(']]>', '&', '<', '"', '\u0000', '\u001b', '\ud800', '😀', ' ', '\n'),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
      ),
      minLength: 1,
      maxLength: 80,
    })
    .map((t) => t.replaceAll('\r', ''));
  const legal = (t: string) =>
    t
      .toWellFormed()
      .replace(/\ufffd/g, '')
      // eslint-disable-next-line no-control-regex -- the characters in question
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '');
  await fc.assert(
    fc.asyncProperty(text, text, async (title, description) => {
      const clean = legal(description);
      fc.pre(clean.trim() !== '' && !/\ufffd/.test(title + description));
      const xml = await textOf({
        ...base,
        podcast: { ...base.podcast, title: `t${title}` },
        episodes: [{ ...firstEpisode!, description }],
      });
      expect(XMLValidator.validate(xml)).toBe(true);
      expect(itemsOf(xml)[0]!['description']).toBe(clean);
    }),
  );
});

test('line breaks and markup in attributes are values: a reader gets them back, and nothing else', async () => {
  const text = fc
    .string({
      unit: fc.oneof(
        fc.constantFrom('\r\n', '\n', '\r', '\t', '"', "'", '<', '>', '&', '/>', ' x="1"', '\u0000', '\u001b'),
        fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
      ),
      minLength: 1,
      maxLength: 40,
    })
    .map((t) => `v${t}`);
  // eslint-disable-next-line no-control-regex -- the characters that XML forbids
  const legal = (t: string) => t.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '');
  await fc.assert(
    fc.asyncProperty(text, text, async (address, customValue) => {
      const recipients = [{ type: 'node', address, customValue, split: 1 }];
      const value = { type: 'lightning', method: 'keysend', recipients };
      const xml = await textOf({ ...base, podcast: { ...base.podcast, value }, episodes: [] });
      const found: object[] = [];
      const parser = new SaxesParser();
      parser.on('opentag', ({ name, attributes }) => name === 'podcast:valueRecipient' && found.push(attributes));
      parser.write(xml).close();
      const expected = { type: 'node', address: legal(address), customValue: legal(customValue), split: '1' };
      expect(found).toEqual([expected]);
    }),
  );
});

test('titles are cut to 255 characters and descriptions to 4000 bytes, never inside a character', async () => {
  const xml = await textOf({
    ...base,
    podcast: { ...base.podcast, title: '😀'.repeat(300), description: 'ä'.repeat(3000) },
  });
  const channel = channelOf(xml);
  expect([...String(channel['title'])]).toHaveLength(255);
  expect(String(channel['description'])).toBe('ä'.repeat(2000));
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 3000 }), (text) => {
      // The replacement character is a character like any other: here it has to show a cut inside one.
      const clipped = clipDescription(text.replaceAll('\ufffd', '').repeat(3));
      expect(Buffer.byteLength(clipped)).toBeLessThanOrEqual(4000);
      expect(clipped).not.toContain('\ufffd');
    }),
    { numRuns: 30 },
  );
});

test('a description is cut beside a tag or a character reference, and content:encoded is not cut at all', async () => {
  const markup = '<p>Read <a href="https://tides.example/?a=1&amp;b=2">the log</a> &amp; listen.</p>';
  for (let padding = 3900; padding < 4000; padding++) {
    const description = 'x'.repeat(padding) + markup;
    const item = itemsOf(await textOf({ ...base, episodes: [{ ...firstEpisode!, description }] }))[0]!;
    expect(item['content:encoded']).toBe(description);
    const shown = String(item['description']);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(4000);
    const cut = shown.replace(/(?:<\/a>)?(?:<\/p>)?$/, '');
    expect(description.startsWith(cut)).toBe(true);
    expect(cut).not.toMatch(/<[^>]*$|&[a-z]*$/);
  }
});

test('notes of 100,000 bytes are whole in content:encoded, and the description closes the elements that it opens', async () => {
  const notes = `<div><p>${'<b>é</b>'.repeat(11_000)}</p></div>`.slice(0, 99_000);
  const item = itemsOf(await textOf({ ...base, episodes: [{ ...firstEpisode!, description: notes }] }))[0]!;
  expect(item['content:encoded']).toBe(notes);
  const description = String(item['description']);
  expect(Buffer.byteLength(description)).toBeLessThanOrEqual(4000);
  expect(description).toMatch(/^<div><p>(?:<b>é<\/b>)+(?:<b>é?<\/b>)?<\/p><\/div>$/);
});

test('addresses are written in ASCII, and escapes in them stay', () => {
  expect(asciiUrl('https://a.example/f/Ä b%20c.mp3?x=1&y=2')).toBe('https://a.example/f/%C3%84%20b%20c.mp3?x=1&y=2');
});

test('an international host name is written as punycode, and only the host', async () => {
  expect(asciiUrl('https://müller.example/Ä?q=ö#ü')).toBe('https://xn--mller-kva.example/%C3%84?q=%C3%B6#%C3%BC');
  expect(asciiUrl('https://u@例え.テスト:8443')).toBe('https://u@xn--r8jz45g.xn--zckzah:8443');
  expect(asciiUrl('mailto:ü@example.com')).toBe('mailto:%C3%BC@example.com');
  const xml = await textOf({ ...base, podcast: { ...base.podcast, link: 'https://bücher.example/' } });
  expect(channelOf(xml)['link']).toBe('https://xn--bcher-kva.example/');
});

test('dates are RFC 2822 in UTC', () => {
  expect(rfc2822Date(new Date('2026-11-01T05:06:07.999Z'))).toBe('Sun, 01 Nov 2026 05:06:07 +0000');
});

test('the checks notice what is missing or misplaced', async () => {
  const xml = await textOf(base);
  expect(findings(xml.replace(/<itunes:image[^>]*\/>/g, ''))).toContain('channel itunes:image');
  expect(findings(xml.replace('</channel>', ''))).toContain('not well-formed');
  expect(namespaceFindings(xml.replace('</channel>', ''))).toHaveLength(1);
  expect(namespaceFindings(xml.replace('<podcast:medium>podcast', '<podcast:medium>radio'))).toEqual([
    'podcast:medium says "radio"',
  ]);
  expect(namespaceFindings(xml.replace(' startTime="73.5"', ''))).toEqual(['podcast:soundbite lacks startTime']);
  expect(namespaceFindings(xml.replace('<channel>', '<channel><podcast:chapters/>'))).toEqual([
    'podcast:chapters in channel',
    'podcast:chapters lacks url',
    'podcast:chapters lacks type',
  ]);
  expect(namespaceFindings(xml.replace('<item>', '<podcast:guid>x</podcast:guid><item>'))).toContain(
    'podcast:guid stands 2 times in channel',
  );
});

test('the next batch is requested only when the one before was consumed', async () => {
  let asked = 0;
  const batches = (function* () {
    for (asked = 1; ; asked++) yield [firstEpisode!];
  })();
  const { episodes: _, ...head } = base;
  const pieces = renderFeed(head, batches);
  await pieces.next();
  expect(asked).toBe(0);
  for (let i = 1; i <= 3; i++) {
    await pieces.next();
    expect(asked).toBe(i);
  }
  await pieces.return();
});
