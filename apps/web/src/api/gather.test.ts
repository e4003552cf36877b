import { expect, test } from '@jest/globals';
import { gather } from './gather.ts';

test('what comes within a time is given at once, each thing once, and what comes later the next time', () => {
  const timers: (() => void)[] = [];
  const got: unknown[] = [];
  const take = gather<readonly string[]>(
    300,
    (_ms, then) => timers.push(then),
    (things) => got.push(things),
  );
  for (const thing of [
    ['line_items', 'li_1'],
    ['line_items', 'list'],
    ['line_items', 'li_1'],
  ])
    take(thing);
  expect([timers.length, got]).toEqual([1, []]);
  timers.shift()!();
  take(['line_items', 'list']);
  timers.shift()!();
  expect(got).toEqual([
    [
      ['line_items', 'li_1'],
      ['line_items', 'list'],
    ],
    [['line_items', 'list']],
  ]);
});
