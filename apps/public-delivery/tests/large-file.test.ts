import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { openUrl, startServiceProcess, type ServiceProcess } from './_service-process.ts';
import { frameBytes, openBench, publishEvents, showOf, type Bench } from './_support.ts';

const mebibyte = 1 << 20;
const block = randomBytes(1024 * frameBytes);
/** Two and a half times of what the service may take, so one that kept the file would pass that by far. */
const blocks = 848;
const sizeBytes = blocks * block.length;
const partBlocks = 333;
const endBlocks = 100;
/** After so many bytes a listener looks at the memory: ten times. */
const stepBytes = 32_000_000;

/** Four responses hold a chunk of 128 KiB each or, for the seek, one of 1 MiB; the download holds what is on its way to the disk. */
const heldMaxBytes = 4 * mebibyte;
/**
 * Received bytes are garbage as soon as they are on the disk, but V8 begins to look for garbage outside of its heap at 64 MiB of it,
 * and some more comes in while it looks. The young generation of the heap grows to 48 MiB.
 */
const garbageMaxBytes = (64 + 16 + 48) * mebibyte;

let bench: Bench;
let service: ServiceProcess;
let digest: string;

/** 333 MB of which no two blocks are equal, made block by block; or blocks [from, to) of it. */
function* content(from = 0, to = blocks) {
  for (let i = from; i < to; i++) {
    block.writeUInt32LE(i, 0);
    yield Buffer.from(block);
  }
}

function digestOf(bytes: Iterable<Buffer>): string {
  const hash = createHash('sha256');
  for (const each of bytes) hash.update(each);
  return hash.digest('hex');
}

async function upload(url: string): Promise<void> {
  const sending = request(url, {
    method: 'PUT',
    headers: { 'content-length': sizeBytes, 'content-type': 'audio/mpeg' },
  });
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
  await pipeline(Readable.from(content(), { objectMode: false, highWaterMark: mebibyte }), sending);
  const [answer] = await answered;
  answer.resume();
  expect(answer.statusCode).toBe(200);
}

const memoryOf = ({ pid }: ServiceProcess, field: 'VmRSS' | 'VmHWM') =>
  1024 * Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

const open = (headers: Readonly<Record<string, string>> = {}) =>
  openUrl(`${service.url}/delivery/v1/a/${digest}/x.mp3`, headers);

/** Hashes the response. After every step the listener waits for `pause`. */
async function listen(response: IncomingMessage, pause?: () => Promise<void>): Promise<string> {
  const hash = createHash('sha256');
  let received = 0;
  let next = stepBytes;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    hash.update(chunk);
    received += chunk.length;
    if (!pause || received < next) continue;
    next += stepBytes;
    await pause();
  }
  return hash.digest('hex');
}

beforeAll(async () => {
  bench = await openBench();
  digest = digestOf(content());
  await upload(await bench.store.presignPut(`media/${digest}`, { expiresInSeconds: 600 }));
  // The memory cache has its own limit; here it is almost off.
  service = await startServiceProcess({
    ...bench,
    environment: { ...bench.environment, MEMORY_CACHE_MAX_BYTES: '0' },
  });
  await publishEvents(bench.bus, Object.values(showOf({ digest, sizeBytes }).events));
  await until(async () => {
    const answer = await fetch(`${service.url}/delivery/v1/a/${digest}/x.mp3`, { method: 'HEAD' });
    return answer.ok;
  });
});
afterAll(async () => {
  await service?.stop('SIGKILL');
  await bench?.stop();
});

test.each(['not in the cache', 'in the cache'])(
  'of a file of 333 MB that is %s, less than 4 MiB are held while two listen, one has stopped reading and one seeks',
  async () => {
    const heldBefore = (await service.held()).external;
    const residentBefore = memoryOf(service, 'VmRSS');
    // From here on VmHWM is the peak (proc_pid_clear_refs(5)).
    writeFileSync(`/proc/${service.pid}/clear_refs`, '5');
    const held: number[] = [];
    const measure = async () => void held.push((await service.held()).external - heldBefore);

    const [whole, part, stalled, end] = await Promise.all([
      open(),
      open({ range: `bytes=0-${partBlocks * block.length - 1}` }),
      open(),
      open({ range: `bytes=-${endBlocks * block.length}` }),
    ]);
    stalled.pause();
    expect(await Promise.all([listen(whole, measure), listen(part), listen(end)])).toEqual([
      digest,
      digestOf(content(0, partBlocks)),
      digestOf(content(blocks - endBlocks)),
    ]);
    stalled.destroy();

    expect(held).toHaveLength(10);
    expect(Math.max(...held)).toBeLessThan(heldMaxBytes);
    expect(memoryOf(service, 'VmHWM') - residentBefore).toBeLessThan(heldMaxBytes + garbageMaxBytes);
  },
  // Much goes through disks and hashes: minutes on a busy machine. Only the memory is promised.
  300_000,
);
