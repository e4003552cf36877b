import { expect, test } from '@jest/globals';
import { createRequestKeys } from './request-key.ts';

const counting = () => {
  let count = 0;
  return createRequestKeys(() => String((count += 1)));
};

test('a request that is sent again keeps its key; one that says something else, or is of another version, gets a new one', () => {
  const { keyOf } = counting();
  const request = { body: { title: 'Fog' }, version: '"3"' };
  expect([keyOf(request), keyOf({ ...request })]).toEqual(['1', '1']);
  expect(keyOf({ ...request, version: '"4"' })).toBe('2');
  expect(keyOf({ ...request, body: { title: 'Fog, 1911' } })).toBe('3');
});

test('after a request was done, the same one is a new one', () => {
  const { keyOf, end } = counting();
  expect(keyOf({})).toBe('1');
  end();
  expect(keyOf({})).toBe('2');
});
