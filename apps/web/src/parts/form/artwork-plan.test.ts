import { expect, test } from '@jest/globals';
import { planArtwork } from './artwork-plan.ts';

const image = { type: 'image/png', size: 1000, width: 1400, height: 1400 };

test.each([
  [{}, { kind: 'fits' }],
  [{ width: 3000, height: 3000, type: 'image/jpeg' }, { kind: 'fits' }],
  [{ type: 'image/webp' }, { kind: 'refused', why: 'not_image' }],
  [{ type: '' }, { kind: 'refused', why: 'not_image' }],
  [
    { width: 0, height: 0 },
    { kind: 'refused', why: 'not_image' },
  ],
  [
    { width: 1399, height: 1399 },
    { kind: 'refused', why: 'too_small' },
  ],
  [
    { width: 4000, height: 1399 },
    { kind: 'refused', why: 'too_small' },
  ],
  [{ size: 21_000_000 }, { kind: 'refused', why: 'too_large' }],
])('an image %j: %j', (facts, plan) => {
  expect(planArtwork({ ...image, ...facts })).toEqual(plan);
});

test.each([
  [1920, 1500, { x: 210, y: 0, side: 1500, drawn: 1500 }],
  [1500, 1921, { x: 0, y: 210, side: 1500, drawn: 1500 }],
  [3001, 3001, { x: 0, y: 0, side: 3001, drawn: 3000 }],
  [8000, 6000, { x: 1000, y: 0, side: 6000, drawn: 3000 }],
])('of %i × %i pixels the middle is cut', (width, height, crop) => {
  expect(planArtwork({ ...image, width, height })).toEqual({ kind: 'cut', crop });
  expect(crop.x + crop.side).toBeLessThanOrEqual(width);
  expect(crop.y + crop.side).toBeLessThanOrEqual(height);
});
