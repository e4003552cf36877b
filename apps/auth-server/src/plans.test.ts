import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parsePlans } from './plans.ts';

const text = readFileSync(new URL('../data/plans.json', import.meta.url), 'utf8');

test('the shipped plan file is valid and has the five plans', () => {
  expect([...parsePlans(text).keys()]).toEqual(['launch', 'grow', 'scale', 'network', 'classic']);
});

test('a plan file with an unknown field, a missing field or a contradiction is refused', () => {
  expect(() => parsePlans(text.replace('"open": true', '"opne": true'))).toThrow('launch');
  expect(() => parsePlans(text.replace('"requests_per_minute": 60,', ''))).toThrow('requests_per_minute');
  expect(() => parsePlans(text.replace('"includes_api": false', '"includes_api": true'))).toThrow('disagree');
});
