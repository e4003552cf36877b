import { expect, test } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { keepLease, type LeaseEnd, type LeaseTerms } from './keep-lease.ts';

const never = new AbortController().signal;
const held = { held: true, stop: false };

const endOf = (signal: AbortSignal) =>
  new Promise<LeaseEnd>((resolve) => {
    const end = () => resolve((signal.reason as { reason: LeaseEnd }).reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });

const keep = (renew: LeaseTerms['renew'], leaseMs = 90, shutdown = never) => keepLease({ leaseMs, renew }, shutdown);

test('a lease is renewed until it is disposed, and never afterwards', async () => {
  let renewals = 0;
  const lease = keep(async () => (renewals++, held));
  await wait(400);
  expect(renewals).toBeGreaterThanOrEqual(3);
  expect(lease.signal.aborted).toBe(false);
  await lease[Symbol.asyncDispose]();
  const renewed = renewals;
  await wait(200);
  expect([renewals, lease.signal.aborted]).toEqual([renewed, false]);
});

test.each([
  ['stopped', { held: true, stop: true }],
  ['lost', { held: false, stop: false }],
] as const)('a renewal that finds it %s ends the lease, and is the last one', async (reason, answer) => {
  let renewals = 0;
  await using lease = keep(async () => (renewals++, answer));
  expect(await endOf(lease.signal)).toBe(reason);
  await wait(100);
  expect(renewals).toBe(1);
});

test('a renewal that rejects is tried again while the lease lives', async () => {
  let renewals = 0;
  await using lease = keep(async () => {
    if (++renewals === 2) throw new Error('away');
    return held;
  }, 300);
  await wait(700);
  expect(renewals).toBeGreaterThanOrEqual(4);
  expect(lease.signal.aborted).toBe(false);
});

test('a lease that cannot be renewed is lost when it runs out, though a renewal hangs', async () => {
  for (const renew of [
    () => Promise.reject(new Error('away')),
    (signal: AbortSignal) => wait(60_000, held, { signal }),
  ]) {
    const beganAt = performance.now();
    await using lease = keep(renew, 150);
    expect(await endOf(lease.signal)).toBe('lost');
    expect(performance.now() - beganAt).toBeGreaterThanOrEqual(140);
    expect(performance.now() - beganAt).toBeLessThan(2_000);
  }
});

test('a shutdown ends the work at once, and the lease is renewed until the work has ended', async () => {
  const shutdown = new AbortController();
  let renewals = 0;
  await using lease = keep(async () => (renewals++, held), 90, shutdown.signal);
  shutdown.abort();
  expect(await endOf(lease.signal)).toBe('shutdown');
  await wait(200);
  expect(renewals).toBeGreaterThanOrEqual(1);
  await using late = keep(async () => held, 90, shutdown.signal);
  expect(await endOf(late.signal)).toBe('shutdown');
});
