import { expect, test } from '@jest/globals';
import { cutFeed, type FeedPieces } from './cut-feed.ts';

const cut = (document: string) => cutFeed(document) as FeedPieces;

const rss = (inside: string) => `<?xml version="1.0"?><rss version="2.0"><channel>${inside}</channel></rss>`;

test('a feed is cut into its items and a channel without them', () => {
  expect(cutFeed(rss('<title>A</title><item><a/></item>\n<item x="1">b</item ><link>c</link>'))).toEqual({
    frame: '<rss version="2.0"><channel><title>A</title>\n<link>c</link></channel></rss>',
    items: ['<item><a/></item>', '<item x="1">b</item >'],
  });
});

test('item tags in comments and CDATA are no items', () => {
  const { items } = cut(rss('<!-- <item> --><item><![CDATA[</item><item>]]></item><itemised/>'));
  expect(items).toEqual(['<item><![CDATA[</item><item>]]></item>']);
});

test('an item, a comment or CDATA without an end loses only itself', () => {
  for (const end of ['<item>', '<!-- ', '<![CDATA['])
    expect(cut(`<rss version="2.0"><channel><item>1</item>${end}`).items).toEqual(['<item>1</item>']);
});

test('a document that is no RSS, or that declares entities, is not cut; any other document type is accepted', () => {
  expect(cutFeed('<html></html>')).toBe('no_rss');
  expect(cutFeed('<rss version="2.0"></rss>')).toBe('no_rss');
  expect(cutFeed(`<!DOCTYPE rss [<!ENTITY a "b">]>${rss('')}`)).toBe('own_declarations');
  for (const type of [
    'rss',
    'rss SYSTEM "http://x.example/rss.dtd"',
    'rss PUBLIC "-//Netscape//DTD" "http://x.example/a.dtd"',
  ])
    expect(cut(`<!DOCTYPE ${type}>${rss('<item>1</item>')}`).items).toEqual(['<item>1</item>']);
  expect(cutFeed('<!DOCTYPE '.repeat(100_000) + rss(''))).toBe('no_rss');
});

test('a large feed is cut in linear time', () => {
  const { items } = cut(rss('<item><title>A</title></item>'.repeat(20_000) + '<item '.repeat(1_000_000)));
  expect(items).toHaveLength(20_000);
});
