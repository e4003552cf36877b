import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { blockBytes, createBlockCache } from './block-cache.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-blocks-'));
const bytes = randomBytes(5 * blockBytes + 777);
let handle: FileHandle;
beforeAll(async () => {
  writeFileSync(path.join(folder, 'file'), bytes);
  handle = await open(path.join(folder, 'file'));
});
afterAll(async () => {
  await handle.close();
  rmSync(folder, { recursive: true });
});

const expected = (index: number) => bytes.subarray(index * blockBytes, (index + 1) * blockBytes);

test('a block is the bytes of the file at its place, whichever blocks were dropped in between', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(5), { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 0, max: 4 }),
      async (indexes, room) => {
        const cache = createBlockCache(room * blockBytes);
        for (const index of indexes) {
          expect((await cache.read('file', handle, bytes.length, index)).equals(expected(index))).toBe(true);
          expect(cache.sizeBytes).toBeLessThanOrEqual(room * blockBytes);
        }
      },
    ),
    { numRuns: 30 },
  );
});

test('a cached block is answered at once, and concurrent readers of a block share one read', async () => {
  const cache = createBlockCache(10 * blockBytes);
  const asked = [1, 1, 1].map((index) => cache.read('file', handle, bytes.length, index));
  expect(new Set(asked).size).toBe(1);
  const block = await asked[0]!;
  expect(cache.read('file', handle, bytes.length, 1)).toBe(block);
});

test('a file that is shorter than its name promises is an error, and is read again the next time', async () => {
  const cache = createBlockCache(10 * blockBytes);
  const longer = bytes.length + blockBytes;
  await expect(cache.read('other', handle, longer, 6)).rejects.toThrow('ends at');
  await expect(cache.read('other', handle, longer, 6)).rejects.toThrow('ends at');
  expect(cache.sizeBytes).toBe(0);
});
