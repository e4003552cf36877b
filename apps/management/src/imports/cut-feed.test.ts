import { expect, test } from '@jest/globals';
import { cutFeed } from './cut-feed.ts';

const rss = (inside: string) => `<?xml version="1.0"?><rss version="2.0"><channel>${inside}</channel></rss>`;

test('items come out one by one, and the channel without them', () => {
  expect(cutFeed(rss('<title>A</title><item><a/></item>\n<item x="1">b</item ><link>c</link>'))).toEqual({
    channel: '<channel><title>A</title>\n<link>c</link></channel></rss>',
    items: ['<item><a/></item>', '<item x="1">b</item >'],
  });
});

test('what a comment or CDATA says is no item', () => {
  const { items } = cutFeed(rss('<!-- <item> --><item><![CDATA[</item><item>]]></item><itemised/>'))!;
  expect(items).toEqual(['<item><![CDATA[</item><item>]]></item>']);
});

test('an item, a comment or CDATA that never ends takes only itself away', () => {
  for (const end of ['<item>', '<!-- ', '<![CDATA['])
    expect(cutFeed(`<rss><channel><item>1</item>${end}`.replace('<rss>', '<rss version="2.0">'))!.items).toEqual([
      '<item>1</item>',
    ]);
});

test('what is no RSS, or declares entities, is not cut', () => {
  expect(cutFeed('<html></html>')).toBeUndefined();
  expect(cutFeed('<rss version="2.0"></rss>')).toBeUndefined();
  expect(cutFeed(`<!DOCTYPE rss [<!ENTITY a "b">]>${rss('')}`)).toBeUndefined();
});

test('a large feed is cut in linear time', () => {
  const { items } = cutFeed(rss('<item><title>A</title></item>'.repeat(20_000) + '<item '.repeat(1_000_000)))!;
  expect(items).toHaveLength(20_000);
});
