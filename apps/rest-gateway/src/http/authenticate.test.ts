import { describe, expect, test } from '@jest/globals';
import { Carrier } from '@longwave/rpc/credential';
import { growthOf, linear } from '@longwave/test-kit/growth-of';
import { carriedBy, credentialOf } from './authenticate.ts';
import type { RestFailure } from './rest-failure.ts';

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
  const reading = (size: number) => {
    const authorization = `Bearer x${' '.repeat(size)}x`;
    return () => void credentialOf({ authorization });
  };
  expect(growthOf(reading, 100_000)).toBeLessThan(linear);
});

describe('a session', () => {
  const own = { cookie: 'a=1; __Host-lw_session=value', 'sec-fetch-site': 'same-origin' };
  const statusOf = (headers: Record<string, string>): unknown => {
    try {
      const { credential, carrier } = carriedBy(headers, 'https://longwave.example');
      return [credential, carrier];
    } catch (failure) {
      return (failure as RestFailure).error.status;
    }
  };

  test.each([
    ['from our own page is the credential', own, ['value', Carrier.COOKIE]],
    ['beside a Token header is nothing', { ...own, token: 'key' }, ['key', Carrier.HEADER]],
    ['beside a Bearer token is nothing', { ...own, authorization: 'Bearer key' }, ['key', Carrier.HEADER]],
    ['beside a header without a credential is nothing', { ...own, authorization: 'Basic x' }, 401],
    ['beside an empty Token header is nothing', { ...own, token: '' }, 401],
    ['from another site is refused', { ...own, 'sec-fetch-site': 'cross-site' }, 403],
    ['without a word about its origin is refused', { cookie: own.cookie }, 403],
    ['under the name without protection is nothing', { ...own, cookie: 'lw_session=value' }, 401],
    ['that is there twice is nothing', { ...own, cookie: '__Host-lw_session=a; __Host-lw_session=b' }, 401],
  ])('%s', (_name, headers, result) => {
    expect(statusOf(headers)).toEqual(result);
  });
});
