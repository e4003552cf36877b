import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createBatchQueue } from '../src/batches.ts';

const kib = 1024;

test('items stay in order, and none travels with others in a message of more than 64 items or 256 KiB', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(300 * kib), { maxLength: 200 }), async (sizes) => {
      const messages: (readonly number[])[] = [];
      const queue = createBatchQueue<number>(
        new EventEmitter(),
        (bytes) => bytes,
        (items) => messages.push(items) > 0,
      );
      for (const size of sizes) queue.push(size);
      while (queue.length > 0) await turn();
      expect(messages.flat()).toEqual(sizes);
      for (const items of messages) {
        expect(items.length).toBeLessThanOrEqual(64);
        if (items.length > 1) expect(items.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(256 * kib);
      }
    }),
    { numRuns: 50 },
  );
});
