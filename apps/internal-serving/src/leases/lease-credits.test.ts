import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Reservation } from '../goals/goal-counting.ts';
import { createLeaseCredits, type QuotaLease } from './lease-credits.ts';

const leaseOf = (given: Partial<QuotaLease> = {}): QuotaLease => ({
  ...{ lineItemId: 'li', granted: 10, used: 0, ratePerS: 0, burst: 10, closed: false },
  ...given,
});

function creditsAt(leases: readonly QuotaLease[]) {
  let nowMs = 0;
  const calls: string[] = [];
  const credits = createLeaseCredits({
    monotonicMs: () => nowMs,
    onUsed: (lineItemId, slots) => void calls.push(`${lineItemId} used ${slots}`),
    onExhausted: (lineItemId) => void calls.push(`${lineItemId} exhausted`),
  });
  credits.begin(1);
  credits.startRead().apply(leases);
  const take = async (slots: number) => {
    const answer = credits.reserve([{ lineItemId: 'li', slots, goalQuantity: 1_000 }]);
    if (answer.kind !== 'counted') throw new Error(`the credit was ${answer.kind}`);
    return answer.spending;
  };
  return {
    ...{ credits, take, calls },
    pass: (ms: number) => {
      nowMs += ms;
    },
    read: (...rows: readonly QuotaLease[]) => credits.startRead().apply(rows),
  };
}

test('a bucket gives its burst at once and then its rate, at most what the lease has left', async () => {
  const { credits, take, pass } = creditsAt([leaseOf({ granted: 8, burst: 3, ratePerS: 2 })]);
  expect(credits.remaining('li')).toBe(3);
  (await take(3)).settle('stored');
  expect(credits.remaining('li')).toBe(0);
  pass(499);
  expect(credits.remaining('li')).toBe(0);
  pass(1);
  expect(credits.remaining('li')).toBe(1);
  pass(60_000);
  expect(credits.remaining('li')).toBe(3);
  (await take(3)).settle('stored');
  pass(60_000);
  expect(credits.remaining('li')).toBe(2);
});

test('time before slots were taken fills no bucket after them', async () => {
  const { credits, take, pass, read } = creditsAt([leaseOf({ granted: 5, burst: 5, ratePerS: 1 })]);
  pass(100_000);
  (await take(3)).settle('stored');
  read(leaseOf({ granted: 50, burst: 5, ratePerS: 1, used: 3 }));
  expect(credits.remaining('li')).toBe(2);
  pass(2_000);
  expect(credits.remaining('li')).toBe(4);
});

test('a reservation is all or nothing, and says what each line item has', async () => {
  const { credits } = creditsAt([leaseOf({ lineItemId: 'full' }), leaseOf({ lineItemId: 'short', granted: 1 })]);
  const requests = ['full', 'short', 'unknown'].map((lineItemId) => ({ lineItemId, slots: 2, goalQuantity: 9 }));
  const refused: Reservation = {
    kind: 'refused',
    maxSlots: new Map([
      ['short', 1],
      ['unknown', 0],
    ]),
  };
  expect(credits.reserve(requests)).toEqual(refused);
  expect(credits.remaining('full')).toBe(10);
});

test('what was not stored comes back; an unknown outcome stays spent until the rows are read', async () => {
  const { credits, take, read } = creditsAt([leaseOf({ granted: 4, burst: 8 })]);
  (await take(2)).settle('not_stored');
  expect(credits.remaining('li')).toBe(4);
  const before = credits.startRead();
  (await take(3)).settle('unknown');
  // That read began before: it says nothing about it.
  before.apply([leaseOf({ granted: 4, burst: 8, used: 0 })]);
  expect(credits.remaining('li')).toBe(1);
  expect(credits.startRead().lineItemIds).toEqual(['li']);
  read(leaseOf({ granted: 4, burst: 8, used: 0 }));
  expect(credits.remaining('li')).toBe(4);
});

test('a read asks for the rows of what is uncertain alone, until one is read while nothing is on its way', async () => {
  const { credits, take } = creditsAt([leaseOf({ granted: 20, burst: 20 })]);
  (await take(1)).settle('stored');
  expect(credits.startRead().lineItemIds).toEqual([]);
  const underWay = await take(2);
  (await take(3)).settle('unknown');
  // The row has the decision on its way too, which counts twice for a while.
  const first = credits.startRead();
  expect(first.lineItemIds).toEqual(['li']);
  first.apply([leaseOf({ granted: 20, burst: 20, used: 6 })]);
  underWay.settle('stored');
  expect(credits.remaining('li')).toBe(12);
  const second = credits.startRead();
  expect(second.lineItemIds).toEqual(['li']);
  second.apply([leaseOf({ granted: 20, burst: 20, used: 6 })]);
  expect(credits.remaining('li')).toBe(14);
  expect(credits.startRead().lineItemIds).toEqual([]);
});

test('a lease that was closed and opened again between two reads begins with what its row says', async () => {
  const { credits, take, read } = creditsAt([leaseOf()]);
  (await take(4)).settle('stored');
  read(leaseOf({ used: 1 }));
  expect(credits.remaining('li')).toBe(6);
  read(leaseOf({ granted: 40, burst: 40, used: 1 }));
  expect(credits.remaining('li')).toBe(24);
});

test('a line item whose rows refused has no credit until they are read', async () => {
  const { credits, take, read } = creditsAt([leaseOf()]);
  (await take(1)).settle('refused');
  expect(credits.remaining('li')).toBe(0);
  read(leaseOf({ granted: 5 }));
  expect(credits.remaining('li')).toBe(5);
});

test('closed leases, missing ones and those of another epoch give nothing', async () => {
  const { credits, take, read } = creditsAt([leaseOf()]);
  read(leaseOf({ closed: true }));
  expect(credits.remaining('li')).toBe(0);
  read(leaseOf());
  (await take(1)).settle('refused');
  read();
  expect(credits.remaining('li')).toBe(0);
  read(leaseOf());
  const late = await take(1);
  const reading = credits.startRead();
  credits.begin(2);
  reading.apply([leaseOf()]);
  late.settle('stored');
  expect(credits.remaining('li')).toBe(0);
  expect(credits.isGranted()).toBe(false);
});

test('a revision keeps the share to which the bucket is full', async () => {
  const { credits, take, read } = creditsAt([leaseOf({ granted: 100, burst: 10 })]);
  (await take(5)).settle('stored');
  read(leaseOf({ granted: 100, burst: 40, used: 5 }));
  expect(credits.remaining('li')).toBe(20);
  read(leaseOf({ granted: 100, burst: 4, used: 5 }));
  expect(credits.remaining('li')).toBe(2);
});

test('what is stored and what is exhausted is told, of the present epoch', async () => {
  const { credits, take, calls } = creditsAt([leaseOf({ granted: 3 })]);
  const first = await take(2);
  const second = await take(1);
  first.settle('stored');
  expect(calls).toEqual(['li exhausted', 'li used 2']);
  credits.begin(2);
  second.settle('stored');
  expect(calls).toHaveLength(2);
});

/** The rows as the database has them: what is stored counts there before it is settled here. */
test('however reads, batches and grants meet, the credit never exceeds what the rows have left', async () => {
  const action = fc.oneof(
    fc.record({ kind: fc.constant('take' as const), slots: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('commit' as const) }),
    fc.record({ kind: fc.constant('settle' as const), outcome: fc.constantFrom('known' as const, 'unknown' as const) }),
    fc.record({ kind: fc.constant('grant' as const), granted: fc.nat({ max: 20 }) }),
    fc.record({ kind: fc.constant('read_begins' as const) }),
    fc.record({ kind: fc.constant('read_ends' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const row = { granted: 10, used: 0 };
      const { credits, take } = creditsAt([leaseOf({ ...row, burst: 1_000 })]);
      let readGranted = 10;
      const open: { slots: number; isCommitted: boolean; spending: Awaited<ReturnType<typeof take>> }[] = [];
      let reading: { apply: (rows: readonly QuotaLease[]) => void; rows: readonly QuotaLease[] } | undefined;
      for (const one of actions) {
        if (one.kind === 'take' && credits.remaining('li') >= one.slots)
          open.push({ slots: one.slots, isCommitted: false, spending: await take(one.slots) });
        const next = open.find(({ isCommitted }) => !isCommitted);
        if (one.kind === 'commit' && next && row.used + next.slots <= row.granted) {
          next.isCommitted = true;
          row.used += next.slots;
        }
        if (one.kind === 'settle' && open[0]?.isCommitted)
          open.shift()!.spending.settle(one.outcome === 'known' ? 'stored' : 'unknown');
        if (one.kind === 'grant') row.granted = Math.max(row.used, one.granted);
        if (one.kind === 'read_begins') {
          const read = credits.startRead();
          reading = { apply: read.apply, rows: [leaseOf({ ...row, burst: 1_000 })] };
        }
        if (one.kind === 'read_ends' && reading) {
          readGranted = reading.rows[0]!.granted;
          reading.apply(reading.rows);
          reading = undefined;
        }
        const onTheirWay = open.reduce((sum, { slots, isCommitted }) => sum + (isCommitted ? 0 : slots), 0);
        expect(credits.remaining('li')).toBeLessThanOrEqual(Math.max(0, readGranted - row.used - onTheirWay));
      }
    }),
  );
});
