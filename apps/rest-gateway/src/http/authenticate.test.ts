import { expect, test } from '@jest/globals';
import { credentialOf } from './authenticate.ts';

test.each([
  [{ token: ' key ', authorization: 'Bearer other' }, 'key'],
  [{ token: ' ', authorization: 'Bearer other' }, 'other'],
  [{ authorization: 'bearer   a b  ' }, 'a b'],
  [{ authorization: 'Bearer ' }, undefined],
  [{ authorization: 'Bearer' }, undefined],
  [{ authorization: 'Bearerkey' }, undefined],
  [{ authorization: 'Basic a2V5' }, undefined],
  [{}, undefined],
])('the headers %j carry the credential %s', (headers, credential) => {
  expect(credentialOf(headers)).toBe(credential);
});

test('a credential has at most 4096 characters; a longer one is ignored', () => {
  for (const form of [(text: string) => ({ token: text }), (text: string) => ({ authorization: `Bearer ${text}` })]) {
    expect(credentialOf(form('k'.repeat(4096)))).toHaveLength(4096);
    expect(credentialOf(form('k'.repeat(4097)))).toBeUndefined();
  }
});

test('reading a header takes time in proportion to its length', () => {
  const startedAt = performance.now();
  credentialOf({ authorization: `Bearer x${' '.repeat(100_000)}x` });
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
