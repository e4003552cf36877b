import { expect, test } from '@jest/globals';
import { firstText, parseXml } from './xml-node.ts';

const read = (inside: string) => firstText(parseXml(`<item><title>${inside}</title></item>`, 'item')!, 'title');

test('text and CDATA stay in the order they were written, each unescaped as it is meant', () => {
  expect(read('a &lt; <![CDATA[b]]> c <![CDATA[<d> &amp; &lt;]]> e')).toBe('a < b c <d> &amp; &lt; e');
  expect(read('<![CDATA[only <b>this</b>]]>')).toBe('only <b>this</b>');
  expect(read('<![CDATA[a]]><![CDATA[b]]>')).toBe('ab');
  expect(read('<![CDATA[a]]]]><![CDATA[>b]]>')).toBe('a]]>b');
});

test('what a comment says is no CDATA, and what CDATA says is no comment', () => {
  expect(read('a<!-- <![CDATA[ -->b')).toBe('ab');
  expect(read('<![CDATA[a <!-- b]]> c <!-- d -->')).toBe('a <!-- b c');
});

test('CDATA and comments that never end are no XML, and are found out in linear work', () => {
  for (const open of ['<![CDATA[', '<!-- '])
    expect(() => parseXml(`<item><title>${open.repeat(200_000)}`, 'item')).toThrow();
});
