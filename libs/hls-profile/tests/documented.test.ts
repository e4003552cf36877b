import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { rules } from '../src/index.ts';

const inGeneral = { same: 'the same', warning: 'a warning', off: 'not asked' } as const;

test('docs/hls-check.md has every rule with its demand, its level and where it is written, in the order of findings', () => {
  const page = readFileSync(new URL('../../../docs/hls-check.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  expect(
    rows.slice(2).map((row) =>
      row
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    ),
  ).toEqual(rules.map(({ id, demands, general, source }) => [id, demands, inGeneral[general], source]));
});
