import { expect, test } from '@jest/globals';
import { createFetchRules } from './fetch-rules.ts';

const { allows, fetchFault } = createFetchRules(new Set(['http://127.0.0.1:9911']));

test.each([
  ['https://10.0.0.1/a.mp3', 'public internet'],
  ['https://127.0.0.1/a.mp3', 'public internet'],
  ['https://169.254.169.254/latest', 'public internet'],
  ['https://2130706433/a.mp3', 'public internet'],
  ['https://[::1]/a.mp3', 'public internet'],
  ['https://[::ffff:10.0.0.1]/a.mp3', 'public internet'],
  ['https://localhost/a.mp3', 'public internet'],
  ['https://host.example:8443/a.mp3', 'port'],
])('%s would not be fetched', (url, reason) => {
  expect(fetchFault(url)).toContain(reason);
});

test.each(['https://host.example/a.mp3', 'https://93.184.216.34/a.mp3', 'http://127.0.0.1:9911/a.mp3'])(
  '%s would be fetched',
  (url) => {
    expect(fetchFault(url)).toBeUndefined();
  },
);

test('an origin is allowed as it is written, and no other', () => {
  expect(allows(new URL('http://127.0.0.1:9911/a'))).toBe(true);
  expect(allows(new URL('http://127.0.0.1:9912/a'))).toBe(false);
  expect(allows(new URL('http://localhost:9911/a'))).toBe(false);
});
