import { readdirSync, readFileSync } from 'node:fs';
import { expect, describe, test } from '@jest/globals';
import fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import type { Feed, FeedEpisode, FeedPodcast } from './feed.ts';
import { asciiUrl, clipDescription, renderFeed, rfc2822Date } from './render-feed.ts';

interface Case {
  podcast: FeedPodcast;
  episodes: (Omit<FeedEpisode, 'publishedAt'> & { publishedAt: string })[];
  changedAt: string;
}
const folder = new URL('../cases/', import.meta.url);
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -5));
function readCase(name: string): Feed {
  const { podcast, episodes, changedAt } = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as Case;
  return {
    podcast,
    episodes: episodes.map((episode) => ({ ...episode, publishedAt: new Date(episode.publishedAt) })),
    changedAt: new Date(changedAt),
    generator: 'Longwave',
  };
}

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

/** What PSP-1 and Apple ask of any feed, as findings. */
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
  const self = channel['atom:link'] as Node | undefined;
  demand(self?.['@_rel'] === 'self' && typeof self['@_href'] === 'string', 'channel atom:link rel=self');
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
  test('is the golden text, every time', () => {
    const xml = renderFeed(readCase(name));
    expect(xml).toBe(readFileSync(new URL(`${name}.xml`, folder), 'utf8'));
    expect(renderFeed(readCase(name))).toBe(xml);
  });
  test('has what PSP-1 and Apple ask for', () => {
    expect(findings(renderFeed(readCase(name)))).toEqual([]);
  });
});

const base = readCase('serial');
const [firstEpisode] = base.episodes;

test('any text stays well-formed and comes back, but for what XML forbids', () => {
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
  fc.assert(
    fc.property(text, text, (title, description) => {
      const clean = legal(description);
      fc.pre(clean.trim() !== '' && !/\ufffd/.test(title + description));
      const xml = renderFeed({
        ...base,
        podcast: { ...base.podcast, title: `t${title}` },
        episodes: [{ ...firstEpisode!, description }],
      });
      expect(XMLValidator.validate(xml)).toBe(true);
      expect(itemsOf(xml)[0]!['description']).toBe(clean);
    }),
  );
});

test('titles are cut to 255 characters and descriptions to 4000 bytes, never inside a character', () => {
  const xml = renderFeed({
    ...base,
    podcast: { ...base.podcast, title: '😀'.repeat(300), description: 'ä'.repeat(3000) },
  });
  const channel = channelOf(xml);
  expect([...String(channel['title'])]).toHaveLength(255);
  expect(String(channel['description'])).toBe('ä'.repeat(2000));
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 3000 }), (text) => {
      const clipped = clipDescription(text.repeat(3));
      expect(Buffer.byteLength(clipped)).toBeLessThanOrEqual(4000);
      expect(clipped).not.toContain('\ufffd');
    }),
    { numRuns: 30 },
  );
});

test('addresses are written in ASCII and what is escaped already stays', () => {
  expect(asciiUrl('https://a.example/f/Ä b%20c.mp3?x=1&y=2')).toBe('https://a.example/f/%C3%84%20b%20c.mp3?x=1&y=2');
});

test('dates are RFC 2822 in UTC', () => {
  expect(rfc2822Date(new Date('2026-11-01T05:06:07.999Z'))).toBe('Sun, 01 Nov 2026 05:06:07 +0000');
});

test('the golden structural check notices what is missing', () => {
  const xml = renderFeed(base);
  expect(findings(xml.replace(/<itunes:image[^>]*\/>/g, ''))).toContain('channel itunes:image');
  expect(findings(xml.replace('</channel>', ''))).toContain('not well-formed');
});
