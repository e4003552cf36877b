import { tmpdir } from 'node:os';
import { expect, test } from '@jest/globals';
import { isRoomFor, watchRoom } from './free-disk.ts';

test('a disk has room for a source when what is made from it fits beside it', async () => {
  expect(await isRoomFor(0, tmpdir())).toBe(true);
  expect(await isRoomFor(Number.MAX_SAFE_INTEGER, tmpdir())).toBe(false);
});

// It has no room for anything.
const full = '/proc';
(process.platform === 'linux' ? test : test.skip)('a full disk takes no work, and that is said once', async () => {
  const said: boolean[] = [];
  const isRoom = watchRoom(full, (room) => said.push(room));
  expect([await isRoom(), await isRoom()]).toEqual([false, false]);
  expect(said).toEqual([false]);
});
