import { expect, test } from '@jest/globals';
import { growthOf, linear } from '@longwave/test-kit/growth-of';
import fc from 'fast-check';
import { element, parseItems, xmlDocument } from './xml.ts';

const shape = { root: 'Delete', item: 'Object', fields: ['Key'] } as const;

test('any text comes back from a document', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (keys) => {
      const document = xmlDocument(
        'Delete',
        keys.map((key) => element('Object', [element('Key', key)])),
      );
      expect(parseItems(document, shape).map((item) => item.Key)).toEqual(keys);
    }),
  );
});

test.each([
  '',
  '<Delete></Delete>',
  '<Other><Object><Key>a</Key></Object></Other>',
  '<Delete><Object></Object></Delete>',
  '<Delete><Object><Key>a</Key></Object>',
  'x<Delete><Object><Key>a</Key></Object></Delete>',
])('%j is malformed', (document) => {
  expect(() => parseItems(document, shape)).toThrow(expect.objectContaining({ status: 400, code: 'MalformedXML' }));
});

test.each([
  ['', ' ', ''],
  ['', '<Object>', ''],
  ['<Delete>', '<Object><Key>', '</Delete>'],
])('a hostile document, %s and many times %j, is refused in time proportional to its length', (before, part, after) => {
  const refusing = (size: number) => {
    const document = before + part.repeat(size / part.length) + after;
    return () => expect(() => parseItems(document, shape)).toThrow('not the document');
  };
  expect(growthOf(refusing, 4_000_000)).toBeLessThan(linear);
});
