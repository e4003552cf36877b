import { expect, test } from '@jest/globals';
import { anyTargeting, defaultSeparation, type PlanLineItem, type ServingPlanDocument } from '@longwave/events';
import type { ReadBookingRequest } from '@longwave/rpc/forecast';
import { createReadBooking } from './read-booking.ts';

const plan: ServingPlanDocument = {
  ...{ format: 2, workspace_id: 'ws_1', effective_from: '2026-01-01T00:00:00.000Z', inputs: [], floors: [] },
  ...{ separation: defaultSeparation, line_items: [] },
};

test('a plan that comes late is read once for all who wait, and each is told the version of after its own question', async () => {
  const requests: ReadBookingRequest[] = [];
  const late = Promise.withResolvers<void>();
  const client = {
    async *readBooking(request: ReadBookingRequest) {
      requests.push(request);
      const head = { bookingVersion: BigInt(requests.length), planDigest: 'one', timeZone: 'UTC' };
      yield { content: { $case: 'head' as const, value: { ...head, modifiers: [], releases: [] } } };
      await late.promise;
      if (request.knownDigest !== 'one')
        yield { content: { $case: 'plan' as const, value: Buffer.from(JSON.stringify(plan)) } };
    },
  };
  const read = createReadBooking(client);
  const all = Promise.all([1, 2, 3].map(() => read('ws_1', 1_000)));
  await new Promise(setImmediate);
  expect(requests).toHaveLength(1);
  late.resolve();
  const [first, second, third] = await all;
  expect(requests.map(({ knownDigest }) => knownDigest)).toEqual(['', 'one', 'one']);
  expect([second!.plan, third!.plan].every((one) => one === first!.plan)).toBe(true);
  expect([first, second, third].map((one) => one!.head.bookingVersion)).toEqual([1n, 2n, 3n]);
});

const lineOf = (id: string): PlanLineItem => ({
  ...{ line_item_id: id, campaign_id: 'cmp_1', advertiser_id: 'adv_1', type: 'house', priority: 1, weight: 1 },
  ...{ window: { start: '', end: '' }, goal: { unit: 'unlimited' }, billable: false, cpm_micros: null },
  ...{ break_positions: [], targeting: anyTargeting, frequency_caps: [], separation_groups: [] },
  ...{ ad_product_categories: [], creative_rotation: 'weighted', creatives: [] },
});

test('of a plan that was changed only what is new is sent, and the other line items are the same objects', async () => {
  const sends = [
    { $case: 'plan' as const, value: { ...plan, line_items: [lineOf('a'), lineOf('b'), lineOf('d')] } },
    {
      $case: 'changes' as const,
      value: { plan: { ...plan, line_items: undefined }, line_items: [lineOf('c')], removed: ['a'] },
    },
    { $case: 'plan' as const, value: plan },
  ];
  const known: string[] = [];
  const client = {
    async *readBooking({ knownDigest }: ReadBookingRequest) {
      known.push(knownDigest);
      const planDigest = `${known.length}`;
      const head = { ...{ bookingVersion: 1n, planDigest, timeZone: 'UTC' }, modifiers: [], releases: [] };
      yield { content: { $case: 'head' as const, value: head } };
      const { $case, value } = sends[known.length - 1]!;
      yield { content: { $case, value: Buffer.from(JSON.stringify(value)) } };
    },
  };
  const read = createReadBooking(client);
  const [first, second, third] = [await read('ws_1', 1_000), await read('ws_1', 1_000), await read('ws_1', 1_000)];
  expect(known).toEqual(['', '1', '2']);
  expect(second.plan.line_items.map(({ line_item_id: id }) => id)).toEqual(['b', 'c', 'd']);
  expect(second.plan.line_items[0]).toBe(first.plan.line_items[1]);
  expect(second.plan.line_items[2]).toBe(first.plan.line_items[2]);
  expect(third.plan).toEqual(plan);
});
