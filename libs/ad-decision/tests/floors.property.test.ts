import { expect, test } from '@jest/globals';
import type { ServingPlanDocument } from '@longwave/events';
import fc from 'fast-check';
import { buildIndex, decide, type BreakPosition } from '../src/index.ts';
import { contextOf, planOf, preroll } from './_support.ts';

const position = fc.constantFrom<BreakPosition | undefined>('pre', 'mid', 'post', undefined);
const floors: fc.Arbitrary<ServingPlanDocument['floors']> = fc
  .uniqueArray(
    fc.record({
      podcast_id: fc.constantFrom('pod_1', 'pod_2', null),
      position,
      min_cpm_micros: fc.integer({ min: 0, max: 9 }),
    }),
    { maxLength: 8, selector: (floor) => `${floor.podcast_id} ${floor.position}` },
  )
  .map((list) => list.map(({ position: at, ...floor }) => (at ? { ...floor, position: at } : floor)));
const types = fc.constantFrom('guaranteed' as const, 'non_guaranteed' as const, 'house' as const);
const lines = fc
  .array(fc.record({ type: types, cpm_micros: fc.integer({ min: 0, max: 9 }) }), { maxLength: 12 })
  .map((list) => list.map((one, at) => ({ line_item_id: `li_${at}`, ...one })));
const breaks = (['pre', 'mid', 'post'] as const).map((at) => ({ ...preroll, key: at, position: at }));

test('exactly what competes by price below the nearest floor of a break has below_floor there, once', () => {
  fc.assert(
    fc.property(lines, floors, fc.constantFrom('pod_1', 'pod_2', 'pod_3'), (given, floorsGiven, podcastId) => {
      const { candidates } = decide(
        buildIndex(planOf(given, { floors: floorsGiven })),
        contextOf({ podcastId, breaks: breaks.map((one) => ({ ...one, maxSlots: 0 })) }),
      );
      const floorOf = (at: BreakPosition) => {
        const of = (id: string | null, where: BreakPosition | undefined) =>
          floorsGiven.find((floor) => floor.podcast_id === id && floor.position === where)?.min_cpm_micros;
        return of(podcastId, at) ?? of(podcastId, undefined) ?? of(null, at) ?? of(null, undefined) ?? 0;
      };
      for (const { breakKey, lineItemId, codes } of candidates) {
        const line = given.find((one) => one.line_item_id === lineItemId)!;
        const isBelow = line.type === 'non_guaranteed' && line.cpm_micros < floorOf(breakKey as BreakPosition);
        expect(codes.filter((code) => code === 'below_floor')).toHaveLength(isBelow ? 1 : 0);
      }
    }),
  );
});
