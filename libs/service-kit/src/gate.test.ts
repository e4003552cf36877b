import { expect, test } from '@jest/globals';
import { createGate, createGates } from './gate.ts';

const patient = new AbortController().signal;

test('no more pieces of work run at a time than may, in the order of the calls', async () => {
  const gate = createGate(2);
  const log: string[] = [];
  let running = 0;
  let most = 0;
  const work = (name: string) =>
    gate(async () => {
      log.push(name);
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return name;
    });
  expect(await Promise.all(['a', 'b', 'c', 'd', 'e'].map(work))).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect([log, most]).toEqual([['a', 'b', 'c', 'd', 'e'], 2]);
});

test('work whose waiting was aborted never runs, and delays none behind it', async () => {
  const gate = createGate(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = gate(() => promise, patient);
  const hasty = new AbortController();
  const given = gate(async () => 'never', hasty.signal);
  const behind = gate(async () => 'behind', patient);
  const reason = new Error('too long');
  hasty.abort(reason);
  await expect(given).rejects.toBe(reason);
  resolve();
  await first;
  expect(await behind).toBe('behind');
  await expect(gate(async () => 'never', hasty.signal)).rejects.toBe(reason);
  expect(await gate(async () => 'now', patient)).toBe('now');
});

test('work that began goes on when its waiting is aborted, and work that fails lets the next one run', async () => {
  const gate = createGate(1);
  const waiting = new AbortController();
  const working = gate(async () => {
    waiting.abort();
    return 'done';
  }, waiting.signal);
  expect(await working).toBe('done');
  await expect(gate(() => Promise.reject(new Error('no')), patient)).rejects.toThrow('no');
  expect(await gate(async () => 'next', patient)).toBe('next');
});

test('work that waits under one key delays none under another', async () => {
  const gateOf = createGates(1);
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = gateOf('a')(() => promise, patient);
  const second = gateOf('a')(async () => 'second', patient);
  expect(await gateOf('b')(async () => 'other', patient)).toBe('other');
  resolve('first');
  expect(await Promise.all([first, second])).toEqual(['first', 'second']);
});
