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

test('the documentation of the plans says what the shipped plan file says', () => {
  const document = readFileSync(new URL('../../../docs/plans.md', import.meta.url), 'utf8');
  const rows = document.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const count = (amount: number) => amount.toLocaleString('en');
  for (const [name, plan] of parsePlans(text)) {
    const { encoding_ms_per_month: encodingMs, history_days: days, legacy_requests_per_minute: legacy } = plan;
    expect(rows.find(([, first]) => first === `\`${name}\``)?.slice(2, -1)).toEqual([
      encodingMs === null ? 'no limit' : `${encodingMs / 3_600_000} h`,
      plan.includes_analytics ? 'yes' : 'no',
      days === null ? 'no limit' : `${days} days`,
      plan.includes_api ? `${count(legacy)} per minute` : 'no',
      count(plan.requests_per_minute),
      count(plan.upload_urls_per_minute),
      plan.open ? 'yes' : 'no',
    ]);
  }
});
