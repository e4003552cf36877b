import { expect, test } from '@jest/globals';
import { retryTransient } from './retry-transient.ts';

const failure = (code: string) => Object.assign(new Error('failed'), { code });

test('a lost lock or connection is tried again until it works', async () => {
  const failures: Error[] = [failure('40P01'), failure('ECONNREFUSED')];
  const retried: unknown[] = [];
  const work = async () => {
    const next = failures.shift();
    if (next !== undefined) throw next;
    return 'done';
  };
  expect(await retryTransient(work, new AbortController().signal, (error) => retried.push(error))).toBe('done');
  expect(retried).toHaveLength(2);
});

test('a failure that another try cannot repair is thrown at once', async () => {
  for (const error of [new RangeError('no time'), failure('22P05'), failure('42P01')]) {
    const work = () => Promise.reject(error);
    const retried = () => expect('a retry').toBe('never');
    await expect(retryTransient(work, new AbortController().signal, retried)).rejects.toBe(error);
  }
});

test('a stop ends the waiting with the last failure', async () => {
  const stopping = new AbortController();
  const work = () => Promise.reject(failure('57P03'));
  await expect(retryTransient(work, stopping.signal, () => stopping.abort())).rejects.toMatchObject({ code: '57P03' });
});
