import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CorruptSegment, startDownload, type SegmentDownload } from './segment-download.ts';

const mebibyte = 1 << 20;
const bytes = randomBytes(12 * mebibyte);
const digest = createHash('sha256').update(bytes).digest('hex');

let folder: string;
/** The whole object as the store sends it: what the test writes into it. */
let arriving: PassThrough;
/** Ranges asked of the store; undefined for the whole object. */
let asked: ({ from: number; to: number } | undefined)[];
let downloads: SegmentDownload[];
let download: SegmentDownload;

const store = {
  get: async (_key: string, range?: { from: number; to: number }) => {
    asked.push(range);
    return range ? Readable.from([bytes.subarray(range.from, range.to)]) : arriving;
  },
};
const partFile = () => path.join(folder, 'part');
const file = () => path.join(folder, 'whole');

function start(name = digest, sizeBytes = bytes.length): void {
  arriving = new PassThrough();
  asked = [];
  download = startDownload({ store, digest: name, sizeBytes, partFile: partFile(), file: file() });
  download.done.catch(() => undefined);
  downloads.push(download);
}

/** Reads [from, to), one chunk per `next`, so that a test may stop in between. */
async function listen(from: number, to: number) {
  const segment = await download.open();
  const chunks = segment.read(from, to)[Symbol.asyncIterator]();
  const received: Buffer[] = [];
  const next = async () => {
    const { done, value } = await chunks.next();
    if (!done) received.push(Buffer.from(value));
    return !done;
  };
  const rest = async () => {
    try {
      while (await next());
      return Buffer.concat(received);
    } finally {
      await segment[Symbol.asyncDispose]();
    }
  };
  const size = () => received.reduce((sum, chunk) => sum + chunk.length, 0);
  return { next, rest, size };
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'download-'));
  downloads = [];
});
afterEach(async () => {
  for (const each of downloads) await each[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('every listener gets the bytes behind the writer, from one read of the store', async () => {
  start();
  const listeners = await Promise.all([0, 1000, mebibyte, 4 * mebibyte].map((from) => listen(from, bytes.length)));
  const [first] = listeners;
  arriving.write(bytes.subarray(0, mebibyte));
  while (first!.size() < mebibyte) await first!.next();
  arriving.end(bytes.subarray(mebibyte));
  const whole = await Promise.all(listeners.map(({ rest }) => rest()));
  for (const received of whole) expect(received.equals(bytes.subarray(bytes.length - received.length))).toBe(true);
  await download.done;
  expect((await readFile(file())).equals(bytes)).toBe(true);
  expect(asked).toEqual([undefined]);
});

test('any ranges, asked while bytes arrive in any pieces, are the ranges of the whole', async () => {
  const place = fc.nat(bytes.length);
  const ranges = fc.array(fc.tuple(place, place), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(ranges, fc.array(place, { maxLength: 6 }), async (wanted, cuts) => {
      start();
      const listeners = await Promise.all(wanted.map(([a, b]) => listen(Math.min(a, b), Math.max(a, b))));
      const results = Promise.all(listeners.map(({ rest }) => rest()));
      const ends = [...cuts.sort((a, b) => a - b), bytes.length];
      let at = 0;
      for (const end of ends) {
        if (!arriving.write(bytes.subarray(at, end))) await new Promise((resolve) => arriving.once('drain', resolve));
        at = end;
      }
      arriving.end();
      for (const [i, received] of (await results).entries()) {
        const [a, b] = wanted[i]!;
        expect(received.equals(bytes.subarray(Math.min(a, b), Math.max(a, b)))).toBe(true);
      }
      await download.done;
      expect(asked.filter((range) => range === undefined)).toHaveLength(1);
    }),
    { numRuns: 10 },
  );
});

test('the end is held back until the digest is right', async () => {
  start();
  const listener = await listen(0, bytes.length);
  arriving.write(bytes);
  while (listener.size() < bytes.length - 65_536) await listener.next();
  const last = listener.next();
  expect(await Promise.race([last, new Promise((resolve) => setImmediate(() => resolve('waits')))])).toBe('waits');
  arriving.end();
  expect(await last).toBe(true);
  expect((await listener.rest()).equals(bytes)).toBe(true);
});

test.each([
  ['other bytes', () => Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])])],
  ['fewer bytes', () => bytes.subarray(0, -1)],
  ['more bytes', () => Buffer.concat([bytes, Buffer.alloc(1)])],
])('an object of %s cuts every listener off before its end and leaves no file', async (_name, wrong) => {
  start();
  const [waiting, slow] = [await listen(0, bytes.length), await listen(0, bytes.length)];
  const refused = expect(waiting.rest()).rejects.toThrow(CorruptSegment);
  arriving.write(wrong().subarray(0, mebibyte));
  await slow.next();
  arriving.end(wrong().subarray(mebibyte));
  await expect(download.done).rejects.toThrow(CorruptSegment);
  await refused;
  await expect(slow.rest()).rejects.toThrow(CorruptSegment);
  for (const listener of [waiting, slow]) expect(listener.size()).toBeLessThan(bytes.length);
  expect(await readdir(folder)).toEqual([]);
});

test('a store that breaks off cuts every listener off and leaves no file', async () => {
  start();
  const listener = await listen(0, bytes.length);
  arriving.write(bytes.subarray(0, mebibyte));
  await listener.next();
  arriving.destroy(new Error('broken off'));
  await expect(listener.rest()).rejects.toThrow('broken off');
  await expect(download.done).rejects.toThrow('broken off');
  expect(await readdir(folder)).toEqual([]);
});

test('a seek far ahead does not wait for the writer, and follows it once it has caught up', async () => {
  start();
  const listener = await listen(8 * mebibyte, bytes.length);
  await listener.next();
  expect(listener.size()).toBe(mebibyte);
  arriving.end(bytes);
  await download.done;
  expect((await listener.rest()).equals(bytes.subarray(8 * mebibyte))).toBe(true);
  expect(asked).toEqual([undefined, { from: 8 * mebibyte, to: 9 * mebibyte }]);
});

test('a disk that is full does not stop a listener', async () => {
  await symlink('/dev/full', partFile());
  start();
  const listener = await listen(0, bytes.length);
  arriving.end(bytes);
  expect((await listener.rest()).equals(bytes)).toBe(true);
  await expect(download.done).rejects.toThrow('cannot write to its disk');
  expect(await readdir(folder)).toEqual([]);
});

test('a segment shorter than what is held back is given when it is whole', async () => {
  const short = Buffer.from('short');
  const name = createHash('sha256').update(short).digest('hex');
  start(name, short.length);
  const listener = await listen(1, 4);
  arriving.end(short);
  expect((await listener.rest()).toString()).toBe('hor');
});
