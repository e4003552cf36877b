import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dayHours, hourAfterKey, withHours } from './week-hours.ts';

const hour = fc.integer({ min: 0, max: 167 });

test('hours that are put in and taken out again leave what was there before, in order and each once', () => {
  fc.assert(
    fc.property(fc.uniqueArray(hour), fc.uniqueArray(hour), (some, others) => {
      const before = some.toSorted((a, b) => a - b);
      const both = withHours(before, others, true);
      expect(both).toEqual([...new Set([...before, ...others])].toSorted((a, b) => a - b));
      const taken = withHours(both, others, false);
      expect(taken).toEqual(before.filter((each) => !others.includes(each)));
    }),
  );
});

test('a day has its 24 hours, the last of Sunday is 167', () => {
  expect(dayHours(0).at(0)).toBe(0);
  expect(dayHours(6).at(-1)).toBe(167);
});

test('arrows stay in the week, Home and End in the day; every hour is reached', () => {
  const keys = fc.constantFrom('ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp', 'Home', 'End');
  fc.assert(
    fc.property(hour, keys, (from, key) => {
      const to = hourAfterKey(from, key)!;
      expect(to).toBeGreaterThanOrEqual(0);
      expect(to).toBeLessThan(168);
      if (key === 'ArrowLeft' || key === 'ArrowRight' || key === 'Home' || key === 'End')
        expect(Math.floor(to / 24)).toBe(Math.floor(from / 24));
      else expect(to % 24).toBe(from % 24);
    }),
  );
  expect(hourAfterKey(5, 'a')).toBeUndefined();
});
