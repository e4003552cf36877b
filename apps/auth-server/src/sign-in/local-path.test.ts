import { expect, test } from '@jest/globals';
import { browserName } from './browser-name.ts';
import { localPath } from './local-path.ts';

test.each([
  ['/settings/api', '/settings/api'],
  ['/oauth/interaction/abc?x=1&y=%2F', '/oauth/interaction/abc?x=1&y=%2F'],
  ['/', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['https://evil.example/', '/'],
  ['settings', '/'],
  ['/a\nLocation: x', '/'],
  ['/ä', '/'],
  [`/${'a'.repeat(2001)}`, '/'],
  [['/a'], '/'],
  [undefined, '/'],
])('after signing in with return_to %j a person goes on at %s', (text, path) => {
  expect(localPath(text)).toBe(path);
});

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/146.0 Safari/537.36 Edg/146.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  ['Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/146.0 Mobile Safari/537.36', 'Chrome on Android'],
  ['curl/8', 'A browser'],
  [undefined, 'A browser'],
])('the user agent %s is %s', (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name);
});
