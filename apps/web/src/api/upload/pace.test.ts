import { expect, test } from '@jest/globals';
import { createPace, secondsLeft } from './pace.ts';

test('a pace is that of the last ten seconds, and unknown within the first', () => {
  const pace = createPace();
  pace.note(0, 0);
  pace.note(500, 100);
  expect(pace.perSecond()).toBeUndefined();
  for (let second = 1; second <= 10; second += 1) pace.note(second * 1000, second * 1000);
  expect(pace.perSecond()).toBe(1000);
  for (let second = 11; second <= 21; second += 1) pace.note(second * 1000, 10_000);
  expect(pace.perSecond()).toBe(0);
});

test('bytes that did not arrive begin a new pace, which is never below nothing', () => {
  const pace = createPace();
  pace.note(0, 0);
  pace.note(2000, 5000);
  pace.note(3000, 1000);
  expect(pace.perSecond()).toBeUndefined();
  pace.note(5000, 5000);
  expect(pace.perSecond()).toBe(2000);
});

test('the time left is said in whole seconds, and only when something moves', () => {
  expect([secondsLeft(1500, 1000), secondsLeft(0, 1000), secondsLeft(10, 0), secondsLeft(10, undefined)]).toEqual([
    ...[2, 0, undefined, undefined],
  ]);
});
