import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startS3ServerProcess, type S3ServerProcess } from '@longwave/s3-server';
import { startFaultProxy, until } from '@longwave/test-kit';
import { createObjectStore } from '../src/index.ts';
import { objectStoreContract } from './object-store.contract.ts';

const access = { accessKey: 'embedded', secretKey: 'a-secret-for-this-test', region: 'eu-test-1' };
let folder: string;
let server: S3ServerProcess;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'longwave-s3-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

objectStoreContract('the embedded S3 server', async () => {
  server = await startS3ServerProcess({ ...access, folder });
  return { ...access, endpoint: server.endpoint, stop: async () => {} };
});

test('the embedded server lists every key that S3 allows, also beside the folder of its name', async () => {
  const store = createObjectStore({ ...access, endpoint: server.endpoint, bucket: 'odd-keys' });
  await store.ensureBucket();
  const keys = [
    'a',
    'a/',
    'a//b',
    'a/b',
    'a/b/c',
    'a-b',
    'A',
    'with space+plus%25&=?#',
    `it's "<quoted>" &amp;`,
    '007',
    '1e3',
  ];
  keys.push(
    `long/${'x'.repeat(79)}/y`,
    `long/${'x'.repeat(80)}`,
    `long/${'x'.repeat(80)}/y`,
    `long/${'é'.repeat(500)}`,
  );
  for (const key of keys) await store.put(key, Buffer.from(key), { contentType: 'text/plain' });
  const listed: string[] = [];
  for await (const { key } of store.list('')) listed.push(key);
  expect(listed).toEqual(keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  for (const key of keys) {
    expect((await buffer(await store.get(key))).toString()).toBe(key);
    await store.remove(key);
  }
  for await (const { key } of store.list('')) expect(key).toBe('nothing');
});

test('the embedded server served all of that without holding a body in memory', async () => {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(server.pid)]);
  expect(Number(stdout) * 1024).toBeLessThan(250_000_000);
});

test('a request ends with an error when the network goes silent, at its beginning and in the middle of a body', async () => {
  await using proxy = await startFaultProxy();
  const { hostname, port } = new URL(server.endpoint);
  proxy.aimAt({ host: hostname, port: Number(port) });
  const endpoint = `http://127.0.0.1:${proxy.port}`;
  const patient = createObjectStore({ ...access, endpoint: server.endpoint, bucket: 'silence' });
  const store = createObjectStore({ ...access, endpoint, bucket: 'silence', silenceMs: 2_000 });
  await patient.ensureBucket();
  const whole = Buffer.alloc(20_000_000, 7);
  await patient.put('large', whole, { contentType: 'text/plain' });
  const body = await store.get('large');
  // A reader who takes his time is not taken for a broken network.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  body.resume();
  await proxy.cut('black-hole');
  await expect(finished(body)).rejects.toThrow('silent');
  await expect(store.find('large')).rejects.toThrow('silent');
  await expect(store.put('more', whole.subarray(0, 1_000), { contentType: 'text/plain' })).rejects.toThrow('silent');
  await proxy.heal();
  const again = await until('the whole', async () => buffer(await store.get('large')), { despiteErrors: true });
  expect(again.equals(whole)).toBe(true);
});

test('the embedded server keeps objects and open uploads over a restart and stops with exit code 0', async () => {
  const store = createObjectStore({ ...access, endpoint: server.endpoint, bucket: 'restarted' });
  await store.ensureBucket();
  await store.put('kept/object', Buffer.from('kept'), { contentType: 'audio/mpeg' });
  const uploadId = await store.createMultipartUpload('kept/upload', { contentType: 'audio/mpeg' });
  const part = await store.presignPart('kept/upload', uploadId, 1, { expiresInSeconds: 60 });
  expect((await fetch(part, { method: 'PUT', body: 'part' })).status).toBe(200);

  expect(await server.stop()).toBe(0);
  server = await startS3ServerProcess({ ...access, folder, port: Number(new URL(server.endpoint).port) });

  expect((await buffer(await store.get('kept/object'))).toString()).toBe('kept');
  expect(await store.find('kept/object')).toMatchObject({ contentType: 'audio/mpeg', sizeBytes: 4 });
  expect(await store.listParts('kept/upload', uploadId)).toMatchObject([{ partNumber: 1, sizeBytes: 4 }]);
  expect(await server.stop()).toBe(0);
});
