import { expect, test } from '@jest/globals';
import { createChangeLog } from './change-log.ts';

const read = (position: number, ...accountIds: string[]) => ({ position: BigInt(position), accountIds });

test('a process is told the accounts of exactly the changes that it has not heard of', () => {
  const log = createChangeLog();
  log.append(read(2, 'a', 'b'));
  log.append(read(4, 'b', 'c'));
  expect(log.after(4n)).toEqual({ position: 4n, everything: false, accountIds: [] });
  expect(log.after(2n)).toEqual({ position: 4n, everything: false, accountIds: ['b', 'c'] });
  expect(log.after(0n)).toEqual({ position: 4n, everything: false, accountIds: ['a', 'b', 'c'] });
});

test('a process forgets everything after a change that touches every account, and when changes that it missed are not known', () => {
  const everything = { everything: true, accountIds: [] };
  const log = createChangeLog();
  log.append(read(9, 'b'));
  expect(log.after(8n)).toMatchObject(everything);
  log.append(read(11, 'a', 'c'));
  expect(log.after(9n)).toMatchObject({ everything: false, accountIds: ['a', 'c'] });
  expect(log.after(8n)).toMatchObject(everything);
  expect(log.after(12n)).toMatchObject(everything);
  log.append(read(12, ''));
  expect(log.after(11n)).toMatchObject(everything);
  log.append(read(1_512, ...Array.from({ length: 1_500 }, () => 'd')));
  expect(log.after(512n)).toMatchObject({ everything: false, accountIds: ['d'] });
  expect(log.after(511n)).toMatchObject(everything);
});
