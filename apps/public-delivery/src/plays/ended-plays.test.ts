import { expect, test } from '@jest/globals';
import { hasEnded } from './ended-plays.ts';

const before = new Date('2026-11-22T09:00:00Z');
const begun = (seconds: number, isBound: boolean, blob = 'old') => ({
  startedAt: new Date(before.getTime() + seconds * 1000),
  isBound,
  parts: [{ blob: 'header' }, { blob }],
});

test.each([
  ['a bound play that began before, whatever it plays', begun(-0.001, true, 'new'), 'new', true],
  ['a bound play of the old audio that began before the end was known everywhere', begun(4.999, true), 'new', true],
  ['a bound play of the new audio that began just after', begun(0, true, 'new'), 'new', false],
  ['a bound play of other audio that began later', begun(5, true), 'new', false],
  ['a play without a binding that has the old audio', begun(-3600, false), 'new', true],
  ['a play without a binding that has the new audio', begun(-3600, false, 'new'), 'new', false],
  ['a play without a binding while the episode is hidden', begun(-3600, false), undefined, true],
  ['a play without a binding of a later day, that finishes', begun(3600, false), undefined, false],
])('%s', (_name, play, digest, ended) => {
  expect(hasEnded(play, { before, digest })).toBe(ended);
  expect(hasEnded(play, { before: undefined, digest })).toBe(false);
});
