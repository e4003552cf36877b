import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { maxVastBytes, parseVast } from '../src/index.ts';

const bytes = (text: string) => Buffer.from(text);
const vast = (content: string) => `<VAST version="4.2">${content}</VAST>`;
const filled = (piece: string) => piece.repeat(Math.floor((maxVastBytes - 100) / piece.length));

/** Milliseconds of processor time that parsing may take on a busy machine; quadratic work on 256 KiB takes many seconds. */
const maxMs = 1_000;

function parseInTime(document: Uint8Array) {
  const before = process.cpuUsage();
  const parsed = parseVast(document);
  const { user } = process.cpuUsage(before);
  expect(user / 1000).toBeLessThan(maxMs);
  return parsed;
}

const laughs = [
  '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">',
  ...Array.from({ length: 9 }, (_, n) => `<!ENTITY lol${n} "${`&lol${n === 0 ? '' : n - 1};`.repeat(10)}">`),
  `]>${vast('<Error>&lol8;</Error>')}`,
].join('\n');

test.each<[string, string]>([
  ['a billion laughs', laughs],
  [
    'an entity that is a file',
    `<!DOCTYPE VAST [<!ENTITY f SYSTEM "file:///etc/passwd">]>${vast('<Error>&f;</Error>')}`,
  ],
  ['an external DTD', `<!DOCTYPE VAST SYSTEM "https://a.example/vast.dtd">${vast('')}`],
  [
    'a DTD behind comments and instructions',
    `<?xml version="1.0"?><!-- a --><?b c?> <!-- <VAST> --><!doctype VAST>${vast('')}`,
  ],
  ['a DTD that never ends', `<!DOCTYPE ${filled('[')}`],
])('%s is refused before it is parsed', (_, document) => {
  expect(parseInTime(bytes(document))).toEqual({
    ...{ kind: 'refused', code: 100, errorUrls: [] },
    reason: 'The document declares a document type (DTD).',
  });
});

test('a document type inside a CDATA section is text', () => {
  const html = '<![CDATA[<!DOCTYPE html><!ENTITY a "b">&a;]]>';
  expect(parseVast(bytes(vast(`<Error>https://a.example/</Error><Extensions>${html}</Extensions>`)))).toMatchObject({
    kind: 'empty',
    errorUrls: ['https://a.example/'],
  });
});

/** Well-formed, but for the bound. */
const beyondBounds: readonly [string, Uint8Array, string][] = [
  ['10 MB', Buffer.alloc(10 * 1024 * 1024, '<a>'), 'larger than 262144 bytes'],
  ['one byte too many', bytes(vast('').padEnd(maxVastBytes + 1)), 'larger than 262144 bytes'],
  ['33 elements inside each other', bytes(vast('<a>'.repeat(32) + '</a>'.repeat(32))), 'more than 32 elements inside'],
  [
    'elements of another namespace, inside each other',
    bytes(vast(`<x xmlns="y">${'<a>'.repeat(31)}${'</a>'.repeat(31)}</x>`)),
    'more than 32 elements inside',
  ],
  ['80,000 elements inside each other', bytes(filled('<a>')), 'more than 32 elements inside'],
  ['more than 5,000 elements', bytes(vast('<a/>'.repeat(5_000))), 'more than 5000 elements'],
  [
    'an element of 65 attributes',
    bytes(vast(`<a ${Array.from({ length: 65 }, (_, n) => `a${n}=""`).join(' ')}/>`)),
    'more than 64 attributes',
  ],
  [
    'an element of many attributes',
    bytes(`<VAST ${Array.from({ length: 20_000 }, (_, n) => `a${n}=""`).join(' ')}/>`),
    'more than 64 attributes',
  ],
];
test.each(beyondBounds)('%s: refused with 100, in linear time', (_, document, words) => {
  expect(parseInTime(document)).toMatchObject({
    ...{ kind: 'refused', code: 100 },
    reason: expect.stringContaining(words),
  });
});

test('a document at each bound is read', () => {
  const nested = '<a>'.repeat(31) + '</a>'.repeat(31);
  const attributes = Array.from({ length: 64 }, (_, n) => `a${n}=""`).join(' ');
  for (const document of [nested, '<a/>'.repeat(4_999), `<a ${attributes}/>`])
    expect(parseVast(bytes(vast(document)))).toMatchObject({ kind: 'empty' });
  expect(parseVast(bytes(vast('').padEnd(maxVastBytes)))).toMatchObject({ kind: 'empty' });
});

test.each<[string, Uint8Array]>([
  ['an entity without a declaration', bytes(vast('<Error>&nbsp;</Error>'))],
  ['an attribute twice', bytes('<VAST version="4.2" version="4.1"/>')],
  [
    'bytes that are no UTF-8',
    Buffer.concat([bytes('<VAST version="4.2">'), Buffer.from([0xc3, 0x28]), bytes('</VAST>')]),
  ],
  ['an overlong encoding', Buffer.concat([bytes('<VAST version="4.2">'), Buffer.from([0xc0, 0xbc]), bytes('</VAST>')])],
  ['UTF-16', Buffer.from(`\ufeff${vast('')}`, 'utf16le')],
  ['a NUL', bytes(vast('\u0000'))],
  ['a CDATA section that never ends', bytes(`<VAST version="4.2"><![CDATA[${filled(']]')}`)],
  ['a CDATA section outside', bytes(`<![CDATA[a]]>${vast('')}`)],
  ['the end of a CDATA section alone', bytes(vast('<Error>]]></Error>'))],
  ['a comment that never ends', bytes(`<VAST version="4.2"><!--${filled('- ')}`)],
  ['instructions that never end', bytes(filled('<?'))],
  ['ampersands', bytes(vast(filled('&')))],
  ['two outermost elements', bytes(vast('') + vast(''))],
  ['half a document', bytes('<VAST version="4.2"><Ad><InLine>')],
])('%s: refused with 100, in linear time', (_, document) => {
  expect(parseInTime(document)).toMatchObject({ kind: 'refused', code: 100 });
});

test.each<[string, string]>([
  ['CDATA sections of one character', `<Error>${filled('<![CDATA[a]]>')}</Error>`],
  ['comments', filled('<!---->')],
  ['character references', `<Error>${filled('&#97;')}</Error>`],
  ['white space', filled(' ')],
  ['brackets', `<Error><![CDATA[${filled(']')}]]></Error>`],
  ['an address of brackets', `<Error>https://a.example/${filled('[')}</Error>`],
  ['an address of macros', `<Error>https://a.example/${'[A]'.repeat(1_300)}</Error>`],
  ['a long name of a host', `<Error>https://${filled('a.')}</Error>`],
])('256 KiB of %s are read in linear time', (_, content) => {
  expect(parseInTime(bytes(vast(content)))).toMatchObject({ kind: 'empty' });
});

const documents = ['vast-2.0-inline.xml', 'vast-3.0-pod.xml', 'vast-4.2-wrapper.xml'].map((name) =>
  readFileSync(path.join(import.meta.dirname, 'documents', name)),
);

test('any bytes, and any damage to a document, give an answer and no error', () => {
  const damaged = fc
    .tuple(
      fc.constantFrom(...documents),
      fc.nat(3_000),
      fc.nat(60),
      fc.oneof(fc.string(), fc.constantFrom('<', '</Ad>', ']]>', '&')),
    )
    .map(([document, from, length, text]) =>
      Buffer.concat([document.subarray(0, from), bytes(text), document.subarray(from + length)]),
    );
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), damaged), (document) => {
      const parsed = parseVast(document);
      expect(['inline', 'wrapper', 'empty', 'refused']).toContain(parsed.kind);
      const urls = JSON.stringify(parsed).match(/"(?:url|tagUrl|clickThroughUrl)":"[^"]*/g) ?? [];
      for (const url of urls) expect(url).toMatch(/":"https:\/\//i);
    }),
    { numRuns: 500 },
  );
});
