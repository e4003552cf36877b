import { expect, test } from '@jest/globals';
import { playerDeed } from './player-keys.ts';

const press = (key: string, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...more });

test('letters move, and the space bar begins and stops, where nothing else takes them', () => {
  expect([' ', 'k', 'J', 'l', ',', '.', 'x'].map((key) => playerDeed(press(key), 'DIV', false))).toEqual([
    'toggle',
    'toggle',
    { skipMs: -15_000 },
    { skipMs: 30_000 },
    { skipMs: -24 },
    { skipMs: 24 },
    undefined,
  ]);
  expect(playerDeed(press('l'), 'BUTTON', false)).toEqual({ skipMs: 30_000 });
});

test('fields keep their letters, buttons their space bar, the browser its own keys', () => {
  for (const field of ['INPUT', 'TEXTAREA', 'SELECT']) expect(playerDeed(press('j'), field, false)).toBeUndefined();
  expect(playerDeed(press(' '), 'BUTTON', false)).toBeUndefined();
  expect(playerDeed(press(' '), 'BUTTON', true)).toBe('toggle');
  expect(playerDeed(press('l', { ctrlKey: true }), 'DIV', false)).toBeUndefined();
});
