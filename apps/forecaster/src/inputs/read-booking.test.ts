import { expect, test } from '@jest/globals';
import { defaultSeparation, type ServingPlanDocument } from '@longwave/events';
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
