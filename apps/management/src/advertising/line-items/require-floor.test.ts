import { expect, test } from '@jest/globals';
import { findBelowFloor } from './require-floor.ts';

const floors = [
  { podcast_id: null, min_cpm_micros: 5 },
  { podcast_id: null, position: 'post' as const, min_cpm_micros: 1 },
  { podcast_id: 'pod_dear', min_cpm_micros: 20 },
  { podcast_id: 'pod_dear', position: 'mid' as const, min_cpm_micros: 30 },
  { podcast_id: 'pod_cheap', min_cpm_micros: 2 },
];
const below = (
  price: number,
  positions: ('pre' | 'mid' | 'post')[],
  { include = [], exclude = [] }: { readonly include?: string[]; readonly exclude?: string[] } = {},
) => findBelowFloor(BigInt(price), { podcasts: { include, exclude }, positions }, floors);

test('a price at the floor is not below it, and a floor of the position comes before that of the podcast', () => {
  expect(below(30, ['pre', 'mid'], { include: ['pod_dear'] })).toBeUndefined();
  expect(below(29, ['pre', 'mid'], { include: ['pod_dear'] })).toEqual({ podcastId: 'pod_dear', position: 'mid' });
  expect(below(20, ['pre', 'post'], { include: ['pod_dear'] })).toBeUndefined();
  expect(below(19, ['post'], { include: ['pod_dear'] })).toEqual({ podcastId: 'pod_dear', position: 'post' });
});

test('a podcast without floors of its own has those of the others', () => {
  expect(below(4, ['pre'], { include: ['pod_other'] })).toEqual({ podcastId: 'pod_other', position: 'pre' });
  expect(below(1, ['post'], { include: ['pod_other'] })).toBeUndefined();
  expect(below(2, ['pre', 'post'], { include: ['pod_cheap'] })).toBeUndefined();
});

test('a line item for all podcasts is under every floor but those of podcasts that it leaves out', () => {
  expect(below(19, ['pre'])).toEqual({ podcastId: 'pod_dear', position: 'pre' });
  expect(below(19, ['pre'], { exclude: ['pod_dear'] })).toBeUndefined();
  expect(below(4, ['pre'], { exclude: ['pod_dear'] })).toEqual({ podcastId: null, position: 'pre' });
});
