import { expect, test } from '@jest/globals';
import { quotaOf } from './quota.ts';
import type { PaceShape } from './pace-shape.ts';

const hourMs = 3_600_000;
const windowEndMs = 100 * hourMs;
/** The same share of the plan each hour. */
const even: PaceShape = { shareUntil: (atMs) => atMs / windowEndMs, dayShareUntil: (atMs) => (atMs % 24) / 24 };

const quotaAt = (given: { readonly velocity: number; readonly behind: number; readonly left?: number }) =>
  quotaOf({
    ...{
      left: 4_000,
      unmet: 4_000,
      deliveryRate: 0.8,
      atMs: 50 * hourMs,
      windowEndMs,
      planShare: 0.5,
      shape: even,
      mode: 'even',
    },
    ...{ day: undefined, ...given },
  }).units;

test('what a line item lacks of its plan it may make up at once, and it goes faster by its velocity at least', () => {
  // A quarter of an hour of the 50 hours that are left.
  const planned = 5_000 / 200;
  expect(quotaAt({ velocity: 1, behind: 0 })).toBeCloseTo(planned);
  expect(quotaAt({ velocity: 2, behind: 4 })).toBeCloseTo(2 * planned);
  expect(quotaAt({ velocity: 1.2, behind: 400 })).toBeCloseTo(planned + 500);
});

test('a line item that lacks almost its whole goal is given no more than what is left of it', () => {
  expect(quotaAt({ left: 400, velocity: 1, behind: 396 })).toBe(400);
});
