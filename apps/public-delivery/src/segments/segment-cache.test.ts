import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '@longwave/service-kit';
import type { OpenSegment } from './open-segment.ts';
import { createSegmentCache, type SegmentCache } from './segment-cache.ts';
import { CorruptSegment } from './segment-download.ts';

const logger = createLogger('test', 'silent');
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

let folder: string;
let objects: Map<string, Buffer>;
let reads: string[];
const store = {
  get: async (key: string, range?: { from: number; to: number }) => {
    reads.push(key);
    const bytes = objects.get(key);
    if (!bytes) throw new Error('absent');
    return Readable.from([range ? bytes.subarray(range.from, range.to) : bytes]);
  },
};
function put(bytes: Buffer): { digest: string; size: number } {
  const digest = digestOf(bytes);
  objects.set(`media/${digest}`, bytes);
  return { digest, size: bytes.length };
}
async function contents(segment: OpenSegment, from: number, to: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of segment.read(from, to)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
const caches: SegmentCache[] = [];
async function open(maxBytes: number, waitBelowBytes?: number): Promise<SegmentCache> {
  const limits = { maxBytes, ...(waitBelowBytes !== undefined && { waitBelowBytes }) };
  const cache = await createSegmentCache({ folder, store, logger, ...limits });
  caches.push(cache);
  return cache;
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'segments-'));
  objects = new Map();
  reads = [];
});
afterEach(async () => {
  for (const cache of caches.splice(0)) await cache[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('twenty requests at once cost one download, and any range is read from the file', async () => {
  const bytes = randomBytes(700_000);
  const { digest, size } = put(bytes);
  const cache = await open(10_000_000);
  const segments = await Promise.all(Array.from({ length: 20 }, () => cache.open(digest, size)));
  expect(reads).toHaveLength(1);
  expect((await contents(segments[3]!, 1000, 600_001)).equals(bytes.subarray(1000, 600_001))).toBe(true);
  await Promise.all(segments.map((segment) => segment[Symbol.asyncDispose]()));
});

test('a range that goes past the end of its segment is not in memory, and reading it fails there', async () => {
  const bytes = randomBytes(200_000);
  const { digest, size } = put(bytes);
  const cache = await open(10_000_000);
  const segment = await cache.open(digest, size);
  await contents(segment, 0, size);
  expect(Buffer.concat(cache.find(digest, 1_000, size)!).equals(bytes.subarray(1_000))).toBe(true);
  for (const [from, to] of [
    [1_000, size + 1],
    [size, size + 1],
    [0, 400_000],
  ] as const) {
    expect(cache.find(digest, from, to)).toBeUndefined();
    await expect(contents(segment, from, to)).rejects.toThrow(`ends at ${size}`);
  }
});

test('the least recently used segment is removed first, without disturbing its readers', async () => {
  const all = [1, 2, 3].map(() => randomBytes(1000));
  const [a, b, c] = all.map(put);
  const cache = await open(2000);
  await cache.fetch(a!.digest, 1000);
  await cache.fetch(b!.digest, 1000);
  const reading = await cache.open(a!.digest, 1000);
  const doomed = await cache.open(b!.digest, 1000);
  await (await cache.open(a!.digest, 1000))[Symbol.asyncDispose]();
  await cache.fetch(c!.digest, 1000);
  expect((await readdir(folder)).sort()).toEqual([a!.digest, c!.digest].sort());
  expect(cache.sizeBytes).toBe(2000);
  expect((await contents(doomed, 0, 1000)).equals(all[1]!)).toBe(true);
  await doomed[Symbol.asyncDispose]();
  await reading[Symbol.asyncDispose]();
});

test('segments of an earlier process are used again, its unfinished downloads removed', async () => {
  const { digest, size } = put(randomBytes(1000));
  await (await open(10_000)).fetch(digest, size);
  await writeFile(path.join(folder, `${digest}.1.0.part`), 'half');
  const cache = await open(10_000);
  expect(await readdir(folder)).toEqual([digest]);
  await (await cache.open(digest, size))[Symbol.asyncDispose]();
  expect(reads).toHaveLength(1);
});

test('a file that was cut or removed behind our back is fetched again', async () => {
  const bytes = randomBytes(1000);
  const { digest, size } = put(bytes);
  const cache = await open(10_000);
  for (const harm of [() => writeFile(path.join(folder, digest), 'cut'), () => rm(path.join(folder, digest))]) {
    await cache.fetch(digest, size);
    await harm();
    const segment = await cache.open(digest, size);
    expect((await contents(segment, 0, size)).equals(bytes)).toBe(true);
    await segment[Symbol.asyncDispose]();
  }
  expect(cache.sizeBytes).toBe(1000);
});

test('an object that is not what its name says is never served nor kept', async () => {
  const digest = digestOf(Buffer.from('other'));
  objects.set(`media/${digest}`, randomBytes(1000));
  const cache = await open(10_000);
  await expect(cache.open(digest, 1000)).rejects.toThrow(CorruptSegment);
  expect(await readdir(folder)).toEqual([]);
});

test('a large segment is read while it is being fetched, by one download', async () => {
  const bytes = randomBytes(5000);
  const { digest, size } = put(bytes);
  const cache = await open(10_000, 1000);
  const segment = await cache.open(digest, size);
  expect((await contents(segment, 10, 20)).equals(bytes.subarray(10, 20))).toBe(true);
  await cache.fetch(digest, size);
  await segment[Symbol.asyncDispose]();
  expect(await readdir(folder)).toEqual([digest]);
  expect(reads).toHaveLength(1);
});

test('a disk that takes nothing does not break playback', async () => {
  const bytes = randomBytes(1000);
  const { digest, size } = put(bytes);
  const cache = await open(10_000);
  await rm(folder, { recursive: true });
  await writeFile(folder, 'not a folder');
  await chmod(folder, 0o400);
  const segment = await cache.open(digest, size);
  expect((await contents(segment, 0, size)).equals(bytes)).toBe(true);
});

test('disposing waits for running downloads, and the cache writes nothing afterwards', async () => {
  const bytes = randomBytes(200_000);
  const { digest, size } = put(bytes);
  const gate = Promise.withResolvers<void>();
  const slow = {
    get: async () => {
      await gate.promise;
      return Readable.from([bytes]);
    },
  };
  const cache = await createSegmentCache({ folder, store: slow, logger, maxBytes: 10_000_000 });
  const fetched = cache.fetch(digest, size);
  let ended = false;
  const ending = cache[Symbol.asyncDispose]().then(() => (ended = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(false);
  gate.resolve();
  await ending;
  expect(await readdir(folder)).toEqual([digest]);
  await fetched;
});
