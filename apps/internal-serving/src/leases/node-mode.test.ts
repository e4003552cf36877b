import { expect, test } from '@jest/globals';
import { createCurrentMode, nextNodeMode } from './node-mode.ts';

test('a node counts by none while older releases count, and while another mode is asked for', () => {
  expect(nextNodeMode({ mode: 'guard', wanted: 'guard' })).toBe('none');
  expect(nextNodeMode({ mode: 'lease', wanted: 'lease' })).toBe('lease');
  expect(nextNodeMode({ mode: 'guard', wanted: 'lease' })).toBe('none');
  expect(nextNodeMode({ mode: 'lease', wanted: 'guard' })).toBe('none');
});

test('a change is complete when the decisions of other modes have ended, and not before; new ones begin in the new mode', async () => {
  const current = createCurrentMode();
  await current.change('lease');
  const [first, second] = [current.begin(), current.begin()];
  let isComplete = false;
  const changing = current.change('none').then(() => {
    isComplete = true;
  });
  const later = current.begin();
  expect([first.mode, later.mode]).toEqual(['lease', 'none']);
  first[Symbol.dispose]();
  await Promise.resolve();
  expect(isComplete).toBe(false);
  second[Symbol.dispose]();
  await changing;
  await current.change('none');
  later[Symbol.dispose]();
  expect(current.current()).toBe('none');
});
