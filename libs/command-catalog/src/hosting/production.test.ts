import { expect, test } from '@jest/globals';
import { productionCommands } from './production.ts';

test('silences are at most 2,000 spans, in order and apart; a report may leave them out', () => {
  const accepts = (silences: unknown) =>
    productionCommands['production.complete'].changes.shape.silences.safeParse(silences).success;
  const many = (count: number) => Array.from({ length: count }, (_, i) => [i * 500, i * 500 + 300]);
  for (const silences of [undefined, [], [[0, 300]], many(2000)]) expect(accepts(silences)).toBe(true);
  for (const silences of [
    [[300, 0]],
    [[5, 5]],
    [[0, 300, 1]],
    [[0.5, 300]],
    [
      [0, 300],
      [300, 600],
    ],
    many(2001),
  ])
    expect(accepts(silences)).toBe(false);
  expect(accepts(many(3).reverse())).toBe(false);
});
