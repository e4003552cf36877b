import { expect, test } from '@jest/globals';
import { createOwner, grantsOf } from './owner.ts';
import type { Grants } from './grants.ts';

const { signal } = new AbortController();
const file = { name: 'a.wav', size: 5, lastModified: 0, target: 'ep_1' };

test('once somebody else is signed in, or another account is chosen, no file of the first one is granted anything', async () => {
  let signedIn = 'acc_1 usr_1';
  const keys: string[] = [];
  const grants = { grant: async (_: unknown, key: string) => void keys.push(key) } as unknown as Grants;
  const guarded = grantsOf(
    createOwner(async () => signedIn),
    grants,
  );
  await guarded.grant(file, 'first', signal);
  signedIn = 'acc_2 usr_1';
  await expect(guarded.grant(file, 'second', signal)).rejects.toMatchObject({ status: 401, slug: 'another_account' });
  expect(keys).toEqual(['first']);
});

test('who cannot be asked for is asked again', async () => {
  const answers = [Promise.reject(new Error('away')), Promise.resolve('acc_1 usr_1')];
  const owner = createOwner(() => answers.shift()!);
  await expect(owner.find()).rejects.toThrow('away');
  expect([await owner.find(), await owner.find()]).toEqual(['acc_1 usr_1', 'acc_1 usr_1']);
});
