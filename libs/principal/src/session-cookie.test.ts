import { describe, expect, test } from '@jest/globals';
import { admitCookie, cookieAttributes, cookieName, cookieOf, isCookieOrigin } from './session-cookie.ts';

const base = 'https://longwave.example';

describe('a request with a session cookie', () => {
  test.each([
    ['from a page of the same origin', { 'sec-fetch-site': 'same-origin' }, true],
    ['from such a page, with its origin', { 'sec-fetch-site': 'same-origin', origin: base }, true],
    ['from an older browser that names our origin', { origin: base }, true],
    ['from another port or host of the same site', { 'sec-fetch-site': 'same-site', origin: base }, false],
    ['from another site', { 'sec-fetch-site': 'cross-site' }, false],
    ['from another site that writes our origin', { 'sec-fetch-site': 'cross-site', origin: base }, false],
    ['that a person typed or a bookmark opened', { 'sec-fetch-site': 'none' }, false],
    ['with a value that no browser sends', { 'sec-fetch-site': 'Same-Origin' }, false],
    ['with an empty value', { 'sec-fetch-site': '', origin: base }, false],
    ['with two values', { 'sec-fetch-site': 'same-origin, cross-site' }, false],
    ['with a list', { 'sec-fetch-site': ['same-origin'] }, false],
    ['of an older browser from another origin', { origin: 'https://evil.example' }, false],
    ['of an older browser from a subdomain', { origin: 'https://a.longwave.example' }, false],
    ['of an older browser without TLS', { origin: 'http://longwave.example' }, false],
    ['of an older browser from another port', { origin: 'https://longwave.example:8443' }, false],
    ['of an older browser from a sandbox', { origin: 'null' }, false],
    ['of a program that says nothing', {}, false],
    ['with a referrer alone', { referer: `${base}/` }, false],
  ])('%s is let in: %j → %j', (_name, headers, admitted) => {
    expect(admitCookie(headers, base)).toBe(admitted);
  });

  test('knows an origin also when {base_url} has a path or a default port', () => {
    expect(admitCookie({ origin: base }, 'https://longwave.example:443/app')).toBe(true);
  });
});

test.each([
  ['https://longwave.example', true],
  ['http://localhost:3000', true],
  ['http://127.0.0.1:3000', true],
  ['http://[::1]:3000', true],
  ['http://longwave.example', false],
  ['http://localhost.example', false],
  ['ftp://localhost', false],
])('sessions may be kept at %s: %j', (url, may) => {
  expect(isCookieOrigin(url)).toBe(may);
});

test('the cookie is bound to the host where TLS is, and carries no prefix on this machine', () => {
  expect([cookieName('lw_session', base), cookieAttributes(base)]).toEqual([
    '__Host-lw_session',
    'Path=/; HttpOnly; SameSite=Lax; Secure',
  ]);
  expect([cookieName('lw_session', 'http://localhost:1'), cookieAttributes('http://localhost:1')]).toEqual([
    'lw_session',
    'Path=/; HttpOnly; SameSite=Lax',
  ]);
});

test.each([
  ['lw_session=a', 'a'],
  ['x=1; lw_session=a=b ; y=2', 'a=b'],
  ['lw_session=', undefined],
  ['lw_session=a; lw_session=b', undefined],
  ['other_lw_session=a', undefined],
  ['', undefined],
  [undefined, undefined],
])('of the cookies %s the value is %s', (header, value) => {
  expect(cookieOf(header, 'lw_session')).toBe(value);
});
