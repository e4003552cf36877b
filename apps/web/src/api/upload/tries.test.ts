import { expect, test } from '@jest/globals';
import { ApiProblem } from '../problems.ts';
import { StoreFault } from './put-part.ts';
import { untilItIsBack, whileSomebodyWaits, withTries, type Conditions } from './tries.ts';

/** A network that is away as often as it is told, and a time that passes at once. */
function conditions(offline: number[] = []) {
  const waited: number[] = [];
  let asked = 0;
  const made: Conditions = {
    isOnline: () => !offline.includes((asked += 1)),
    whenOnline: async () => undefined,
    wait: async (ms) => void waited.push(Math.floor(ms / 1000)),
  };
  return { made, waited };
}

const failing = (...errors: readonly Error[]) => {
  const left = [...errors];
  return async () => {
    const error = left.shift();
    if (error) throw error;
    return 'stored';
  };
};
const { signal } = new AbortController();
const patient = { signal, patience: untilItIsBack };
const away = new StoreFault(0);
const refused = new StoreFault(403, 'AccessDenied');

test('an address that was refused, a store that is away and a server that is overloaded are tried again, after growing pauses', async () => {
  const { made, waited } = conditions();
  const errors = [refused, away, new StoreFault(503, 'SlowDown'), new ApiProblem('', { status: 429 })];
  expect(await withTries(failing(...errors), made, patient)).toBe('stored');
  expect(waited.map((seconds, at) => seconds >= 3 ** at && seconds <= 3 ** at * 1.25)).toEqual([
    true,
    true,
    true,
    true,
  ]);
});

test.each([
  ['no answer', away],
  ['a store that is not well', new StoreFault(500, 'InternalError')],
  ['a store that is overloaded', new StoreFault(429)],
  ['a server that is away', new ApiProblem('', { status: 0, slug: 'no_answer' })],
  ['a server that is not well', new ApiProblem('', { status: 503 })],
])('%s is waited for as long as it lasts, half a minute at a time', async (_name, error) => {
  const { made, waited } = conditions();
  const outage = Array.from({ length: 1000 }, () => error);
  expect(await withTries(failing(...outage), made, patient)).toBe('stored');
  expect(waited).toHaveLength(1000);
  expect(Math.max(...waited)).toBeLessThan(34);
});

test('the fifth refusal is the last, whatever outages came between', async () => {
  const { made, waited } = conditions();
  const failures = [refused, away, refused, away, refused, away, refused, away, refused];
  await expect(withTries(failing(...failures), made, patient)).rejects.toBe(refused);
  expect(waited).toHaveLength(8);
});

test('while somebody waits the fifth outage is the last', async () => {
  const { made, waited } = conditions();
  const waiting = { signal, patience: whileSomebodyWaits };
  await expect(withTries(failing(away, away, away, away, away), made, waiting)).rejects.toBe(away);
  expect(waited).toHaveLength(4);
});

test.each([
  ['a multipart upload that is no more', new StoreFault(404, 'NoSuchUpload')],
  ['a part that the store has lost', new StoreFault(500, 'InvalidPart')],
  ['a store whose ETags pages may not read', new StoreFault(200, 'etag_hidden')],
  ['a refusal of the API', new ApiProblem('', { status: 422 })],
  ['a fault of the program', new TypeError('mistake')],
])('%s is not tried again', async (_name, error) => {
  const { made, waited } = conditions();
  await expect(withTries(failing(error), made, patient)).rejects.toBe(error);
  expect(waited).toEqual([]);
});

test('what fails without a network is no try', async () => {
  const { made, waited } = conditions([1, 2, 3, 4, 5, 6, 7]);
  expect(await withTries(failing(away, away, away, away, away, away, away, away), made, patient)).toBe('stored');
  expect(waited).toHaveLength(1);
});

test('an upload that is stopped ends with the reason, whatever its last request said', async () => {
  const stop = new AbortController();
  const reason = new Error('stopped');
  const attempt = async () => {
    stop.abort(reason);
    throw away;
  };
  await expect(withTries(attempt, conditions().made, { ...patient, signal: stop.signal })).rejects.toBe(reason);
});
