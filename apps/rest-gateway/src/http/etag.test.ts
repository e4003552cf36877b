import { expect, test } from '@jest/globals';
import { checkIfMatch, guardFor } from './etag.ts';

const resource = { version: 3, digest: 'abcdef0123456789'.repeat(4) } as NonNullable<
  Parameters<typeof checkIfMatch>[1]
>;
const getResource = async () => resource;
const tag = '"3.abcdef0123456789"';

test.each([
  [undefined, undefined],
  ['*', undefined],
  [tag, tag],
  [`"1.0000000000000000", ${tag}`, tag],
  ['"3.abcdef0123456789.00000000"', tag],
  ['"1.0000000000000000", "2.0000000000000000"', '"1.0000000000000000"'],
  ['"abc", "2.0000000000000000"', '"2.0000000000000000"'],
])('of If-Match: %s the tag %s goes with a command', async (header, sent) => {
  expect(await guardFor(header, getResource)).toBe(sent);
});

test.each([undefined, '*', tag, '"3.abcdef0123456789.00000000"'])(
  'If-Match: %s says by itself which tag goes with a command',
  async (header) => {
    const getNothing = () => Promise.reject(new Error('the resource is read'));
    await expect(guardFor(header, getNothing)).resolves.not.toThrow();
  },
);

test.each(['"abc"', '"abc", "def"', `W/${tag}`, '3.abcdef0123456789', '"3.ABCDEF0123456789"', ''])(
  'If-Match: %s names no version of anything here, so no command goes with it',
  async (header) => {
    await expect(guardFor(header, getResource)).rejects.toThrow('The current version is 3.');
  },
);

test('If-Match is a strong comparison: a weak tag names no version', () => {
  expect(() => checkIfMatch(tag, resource)).not.toThrow();
  expect(() => checkIfMatch('*', undefined)).not.toThrow();
  expect(() => checkIfMatch(`W/${tag}`, resource)).toThrow('The current version is 3.');
  expect(() => checkIfMatch(tag, undefined)).toThrow('This has no version');
});
