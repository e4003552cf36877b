import { expect, test } from '@jest/globals';
import { firstText, parseXml } from './xml-node.ts';

const read = (inside: string) => firstText(parseXml(`<item><title>${inside}</title></item>`)!.node, 'title');

test('text and CDATA stay in the order they were written, each unescaped as it is meant', () => {
  expect(read('a &lt; <![CDATA[b]]> c <![CDATA[<d> &amp; &lt;]]> e')).toBe('a < b c <d> &amp; &lt; e');
  expect(read('<![CDATA[only <b>this</b>]]>')).toBe('only <b>this</b>');
  expect(read('<![CDATA[a]]><![CDATA[b]]>')).toBe('ab');
  expect(read('<![CDATA[a]]]]><![CDATA[>b]]>')).toBe('a]]>b');
});

test('CDATA marks in a comment and comment marks in CDATA mean nothing', () => {
  expect(read('a<!-- <![CDATA[ -->b')).toBe('ab');
  expect(read('<![CDATA[a <!-- b]]> c <!-- d -->')).toBe('a <!-- b c');
});

test('CDATA and comments without an end are no XML, which takes linear time to find out', () => {
  for (const open of ['<![CDATA[', '<!-- ']) expect(() => parseXml(`<item><title>${open.repeat(200_000)}`)).toThrow();
});

const itunes = 'http://www.itunes.com/dtds/podcast-1.0.dtd';

test('a namespace is recognised by its address, whatever prefix a feed gives it, and by its usual prefix when it is not declared', () => {
  const author = (xml: string, outer = {}) => firstText(parseXml(xml, undefined, outer)!.node, 'itunes:author');
  expect(author(`<item xmlns:apple="${itunes}"><apple:author>A</apple:author></item>`)).toBe('A');
  expect(author('<item><p:author>A</p:author></item>', { p: 'HTTPS://www.iTunes.com/DTDs/Podcast-1.0.dtd/' })).toBe(
    'A',
  );
  expect(author(`<item><author xmlns="${itunes}">A</author></item>`)).toBe('A');
  expect(author('<item><itunes:author>A</itunes:author></item>')).toBe('A');
  expect(author('<item xmlns:itunes="https://other.example/"><itunes:author>A</itunes:author></item>')).toBeUndefined();
});

test('an RSS feed with a namespace of its own is read like any other', () => {
  const { node, namespaces } = parseXml(
    '<rss xmlns="http://x.example/"><channel><title>A</title></channel></rss>',
    'channel',
  )!;
  expect(firstText(node, 'title')).toBe('A');
  expect(firstText(parseXml('<item><title>B</title></item>', undefined, namespaces)!.node, 'title')).toBe('B');
});

test('a piece that is not well-formed is read up to its fault, and the fault is named', () => {
  const { node, fault } = parseXml('<item><title>Boats & <b>lights</title><guid>g</guid></item>')!;
  expect([firstText(node, 'title'), firstText(node, 'guid')]).toEqual(['Boats & lights', 'g']);
  expect(fault).toMatch(/tag/);
  expect(parseXml('<item><title>A &amp; B</title></item>')!.fault).toBeUndefined();
});

test('no entity of the document’s own is expanded, and no document type inside an item is followed', () => {
  expect(read('&lol;&eacute;&#0;&#xD800;&#65;')).toBe('&lol;éA');
  expect(read('&__proto__;&constructor;')).toBe('&__proto__;&constructor;');
  expect(read('<!DOCTYPE x [<!ENTITY a "b">]>&a;')).not.toBe('b');
});

test('elements without end, inside each other or side by side, and faults without end are refused', () => {
  expect(() => parseXml(`<item>${'<a>'.repeat(50)}`)).toThrow('40');
  expect(() => parseXml(`<item>${'<a/>'.repeat(30_000)}</item>`)).toThrow('20000');
  expect(() => parseXml(`<item>${'</a>'.repeat(300_000)}</item>`)).toThrow('no XML');
  expect(() => parseXml(`<item ${'a="" '.repeat(300_000)}/>`)).toThrow('1000 attributes');
});

test('an element of more attributes than any feed uses is refused at once, not after all of them', () => {
  const attributes = (count: number) => Array.from({ length: count }, (_, i) => `a${i}=""`).join(' ');
  expect(parseXml(`<item ${attributes(1_000)}/>`)!.node.attributeCount).toBe(1_000);
  // A reader that went on would meet a hundred faults first.
  const faults = '<= '.repeat(200);
  expect(() => parseXml(`<item ${attributes(1_000)} ${faults}/>`)).toThrow('no XML');
  expect(() => parseXml(`<item ${attributes(1_001)} ${faults}/>`)).toThrow('1000 attributes');
  const declarations = attributes(1_001).replaceAll('a', 'xmlns:a').replaceAll('""', '"u"');
  expect(() => parseXml(`<item><x ${declarations} ${faults}/></item>`)).toThrow('1000 attributes');
});

test('a document that declares more namespaces than any feed uses is refused', () => {
  const declare = (count: number, length = 5) =>
    Array.from({ length: count }, (_, i) => `xmlns:a${i}="${'u'.repeat(length)}"`).join(' ');
  const frame = (declared: string) => `<rss ${declared}><channel ${declared}><title>A</title></channel></rss>`;
  expect(Object.keys(parseXml(frame(declare(100)), 'channel')!.namespaces)).toHaveLength(100);
  expect(() => parseXml(frame(declare(101)), 'channel')).toThrow('100 namespaces');
  expect(() => parseXml(frame(declare(2, 6_000)), 'channel')).toThrow('10000 characters');
});
