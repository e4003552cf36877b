import { expect, test } from '@jest/globals';
import { greatestOf, splitUnfinished } from './chart-data.ts';

test('the greatest value is that of any series, 0 without points', () => {
  const point = { key: '', title: '', short: '' };
  const points = [
    { ...point, values: [3, 9] },
    { ...point, values: [5, undefined] },
  ];
  expect([greatestOf({ series: [], points }), greatestOf({ series: [], points: [] })]).toEqual([9, 0]);
});

test('the way to what may still grow is dotted, and the line before it is not', () => {
  const [done, open] = [{}, { isUnfinished: true }];
  expect(splitUnfinished([done, done, open])).toEqual({ solidTo: 2, dottedFrom: 1 });
  expect(splitUnfinished([open, open])).toEqual({ solidTo: 0, dottedFrom: 0 });
  expect(splitUnfinished([done])).toEqual({ solidTo: 1, dottedFrom: 1 });
});
