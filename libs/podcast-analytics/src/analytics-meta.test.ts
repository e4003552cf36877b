import { expect, test } from '@jest/globals';
import { jointBasis, type Basis } from './analytics-meta.ts';

const basis = (completeUntilMs: bigint, ...restated: readonly (readonly [bigint, bigint, bigint])[]): Basis => ({
  methodologyVersion: '1',
  completeUntilMs,
  restated: restated.map(([fromMs, toMs, restatedAtMs]) => ({ fromMs, toMs, restatedAtMs })),
});

test('several answers are complete as far as the least complete one, and restated where one of them is', () => {
  expect(
    jointBasis(basis(9n, [1n, 3n, 70n], [8n, 9n, 60n]), basis(7n, [3n, 4n, 50n]), basis(8n, [2n, 3n, 80n])),
  ).toEqual(basis(7n, [1n, 4n, 80n], [8n, 9n, 60n]));
});

test('an answer names at most 100 restated ranges, those of the latest restatements', () => {
  const many = Array.from({ length: 150 }, (_, n) => [BigInt(2 * n), BigInt(2 * n + 1), BigInt(n)] as const);
  const { restated } = jointBasis(basis(0n, ...many.slice(0, 75)), basis(0n, ...many.slice(75)));
  expect(restated.map(({ restatedAtMs }) => Number(restatedAtMs))).toEqual(
    Array.from({ length: 100 }, (_, n) => 149 - n),
  );
});
