import { expect, test } from '@jest/globals';
import { ApiProblem } from '../problems.ts';
import { StoreFault } from './put-part.ts';
import { withTries, type Conditions } from './tries.ts';

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
const away = new StoreFault(0);

test('an address that was refused, a store that is away and a server that is overloaded are tried again, after growing pauses', async () => {
  const { made, waited } = conditions();
  const errors = [
    new StoreFault(403, 'AccessDenied'),
    away,
    new StoreFault(503, 'SlowDown'),
    new ApiProblem('', { status: 429 }),
  ];
  expect(await withTries(failing(...errors), made, signal)).toBe('stored');
  expect(waited.map((seconds, at) => seconds >= 3 ** at && seconds <= 3 ** at * 1.25)).toEqual([
    true,
    true,
    true,
    true,
  ]);
});

test('the fifth failure is the last', async () => {
  const { made, waited } = conditions();
  await expect(withTries(failing(away, away, away, away, away), made, signal)).rejects.toBe(away);
  expect(waited).toHaveLength(4);
});

test.each([
  ['a multipart upload that is no more', new StoreFault(404, 'NoSuchUpload')],
  ['a store whose ETags pages may not read', new StoreFault(200, 'etag_hidden')],
  ['a refusal of the API', new ApiProblem('', { status: 422 })],
  ['a fault of the program', new TypeError('mistake')],
])('%s is not tried again', async (_name, error) => {
  const { made, waited } = conditions();
  await expect(withTries(failing(error), made, signal)).rejects.toBe(error);
  expect(waited).toEqual([]);
});

test('what fails without a network is no try', async () => {
  const { made, waited } = conditions([1, 2, 3, 4, 5, 6, 7]);
  expect(await withTries(failing(away, away, away, away, away, away, away, away), made, signal)).toBe('stored');
  expect(waited).toHaveLength(1);
});

test('an upload that is stopped ends with the reason, whatever its last request said', async () => {
  const stop = new AbortController();
  const reason = new Error('stopped');
  const attempt = async () => {
    stop.abort(reason);
    throw away;
  };
  await expect(withTries(attempt, conditions().made, stop.signal)).rejects.toBe(reason);
});
