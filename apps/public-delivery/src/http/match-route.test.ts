import { expect, test } from '@jest/globals';
import { createMatcher, splitTarget } from './match-route.ts';

const paths = ['/', '/feeds/:file', '/v1/p/:token/transcript.:format', '/v1/p/:token/:file'];
const match = createMatcher(paths.map((path) => ({ path })));
const found = (path: string) => {
  const { route, params } = match(path) ?? {};
  return route && [route.path, params];
};

test.each([
  ['/', '/', {}],
  ['/feeds/a.xml', '/feeds/:file', { file: 'a.xml' }],
  ['/FEEDS/A.xml/', '/feeds/:file', { file: 'A.xml' }],
  ['/feeds/..%2fa', '/feeds/:file', { file: '../a' }],
  ['/v1/p/t1.x/Transcript.vtt', '/v1/p/:token/transcript.:format', { token: 't1.x', format: 'vtt' }],
  ['/v1/p/t1.x/transcript.', '/v1/p/:token/:file', { token: 't1.x', file: 'transcript.' }],
  ['/v1/p/t1.x/one.mp3', '/v1/p/:token/:file', { token: 't1.x', file: 'one.mp3' }],
])('%s is the path of a route', (path, route, params) => {
  expect(found(path)).toEqual([route, params]);
});

test.each(['', '*', '/feeds', '/feeds/', '/feeds//', '//feeds/a', '/v1/p//one.mp3', '/v1/p/t/one.mp3/x'])(
  '%p is the path of no route',
  (path) => expect(found(path)).toBeUndefined(),
);

test('a parameter that cannot be decoded is an error', () => {
  expect(() => match('/feeds/%E0%A4%A.xml')).toThrow(URIError);
});

test.each([
  ['/a?b=1&b=2&c', '/a', { b: ['1', '2'], c: '' }],
  ['/a', '/a', {}],
  ['/a?', '/a', {}],
  ['/a#b?c=1', '/a', {}],
  ['http://media.test/a?b=1', '/a', { b: '1' }],
  ['*', '', {}],
])('the target %s is split', (target, path, query) => {
  const split = splitTarget(target);
  expect([split.path, { ...split.query }]).toEqual([path, query]);
});
