import { execFile } from 'node:child_process';
import { open, stat, unlink } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ffmpeg, repeatAudio } from '@longwave/test-kit';
import { type ProductionView } from '../_fleet.ts';
import { hostingWorldOf, type HostingWorld, type WorldAccount } from '../_hosting-world.ts';
import { openSharedInstallation } from '../_shared-installation.ts';

const run = promisify(execFile);

let world: HostingWorld;
let owner: WorldAccount;
beforeAll(async () => {
  world = hostingWorldOf(await openSharedInstallation());
  owner = await world.account('owner');
});
afterAll(async () => world?.[Symbol.asyncDispose]());

interface Grant {
  readonly file_url: string;
  readonly upload_key: string;
  readonly multipart_upload_id: string;
  readonly part_size: number;
}

/** Sends a part; with `cutAt` the connection dies after so many bytes. Answers the part's tag, undefined when it died. */
function putPart(url: string, bytes: Buffer, cutAt?: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'PUT', headers: { 'content-length': bytes.length } });
    request.on('response', (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200
          ? resolve(response.headers.etag)
          : reject(new Error(`the part answered ${response.statusCode}`)),
      );
    });
    if (cutAt === undefined) {
      request.on('error', reject);
      request.end(bytes);
    } else {
      request.on('error', () => resolve(undefined));
      request.write(bytes.subarray(0, cutAt), () => request.destroy());
      request.on('close', () => resolve(undefined));
    }
  });
}

const get = (url: string) =>
  new Promise<http.IncomingMessage>((resolve, reject) => void http.get(url, resolve).once('error', reject));

/**
 * Rejects, saying where, unless an address answers the bytes of a file. Programs that keep nothing compare them: to collect 2 GB of chunks
 * costs this process, with all that tests have loaded, more than everything else here.
 */
const assertStored = (url: string, file: string) =>
  run('bash', ['-o', 'pipefail', '-c', 'curl -sSf "$0" | cmp - "$1"', url, file]);

// Two gigabytes through three processes and a disk take minutes on a busy machine; no time is promised.
test('an upload of 2 GB in parts goes on after its connection was killed, and holds every byte', async () => {
  // Real audio of more than 2^31 bytes: 32-bit samples at 96 kHz.
  const noise = 'anoisesrc=color=pink:sample_rate=96000:duration=28:seed=7';
  const piece = path.join(world.folder, 'concert.wav');
  ffmpeg('-f', 'lavfi', '-i', noise, '-ac', '2', '-c:a', 'pcm_s32le', piece);
  // No part is like another: a piece is not a whole share of a part.
  const file = repeatAudio(piece, 100, '-rf64', 'auto');
  const { size } = await stat(file);
  expect(size).toBeGreaterThan(2 ** 31);

  const request = { filename: 'concert.wav', filesize: size, idempotency_key: 'concert-2026' };
  const grant = await owner.rest.post<Grant>('/uploads', request);
  const named = { upload_key: grant.upload_key, multipart_upload_id: grant.multipart_upload_id };
  const partUrl = async (number: number) =>
    (await owner.rest.post<{ url: string }>('/uploads/part_url', { ...named, part_number: number })).url;

  const count = Math.ceil(size / grant.part_size);
  const tags: string[] = [];
  await using handle = await open(file);
  const room = Buffer.allocUnsafe(grant.part_size);
  /** Lies where the part before it was. */
  const partAt = async (number: number) => {
    const from = (number - 1) * grant.part_size;
    const bytes = room.subarray(0, Math.min(grant.part_size, size - from));
    await handle.read(bytes, 0, bytes.length, from);
    return bytes;
  };
  const middle = Math.floor(count / 2);
  for (let number = 1; number <= middle; number++)
    tags.push((await putPart(await partUrl(number), await partAt(number)))!);
  expect(await putPart(await partUrl(middle + 1), await partAt(middle + 1), 10_000_000)).toBeUndefined();

  // The client starts anew: the same key names the same upload, and only what is missing is sent.
  const again = await owner.rest.post<Grant>('/uploads', request);
  expect(again).toEqual(grant);
  for (let number = middle + 1; number <= count; number++)
    tags.push((await putPart(await partUrl(number), await partAt(number)))!);
  const { url } = await owner.rest.post<{ url: string }>('/uploads/complete_multipart_url', named);
  const list = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${tag}</ETag></Part>`).join('');
  const completed = await fetch(url, {
    method: 'POST',
    body: `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`,
  });
  expect([completed.status, await completed.text()]).toEqual([200, expect.not.stringContaining('<Error>')]);

  const stored = await get(grant.file_url);
  stored.destroy();
  expect(stored.headers['content-length']).toBe(String(size));
  await assertStored(grant.file_url, file);
  await unlink(file);

  const podcast = await owner.rest.post<{ id: string }>('/podcasts', { title: 'Concerts', language: 'en' });
  const episode = await owner.rest.post<{ id: string }>(`/podcasts/${podcast.id}/episodes`, { title: 'Concert' });
  const production = { episode_id: episode.id, file_url: grant.file_url, state: 'encoding' };
  const started = await owner.rest.post<ProductionView>('/productions', production);
  expect(started.state).toBe('encoding');
  expect(await owner.rest.post<ProductionView>(`/productions/${started.id}/stop`)).toMatchObject({ state: 'initial' });
}, 900_000);
