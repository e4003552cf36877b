import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createS3Server, startS3ServerProcess, type S3ServerProcess } from '../src/index.ts';
import { access, signedFetch, xmlText, xmlTexts, type SignedRequest } from './_s3-client.ts';

let folder: string;
let runs = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'longwave-s3-crash-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const start = (data: string, crashBefore?: number) =>
  startS3ServerProcess({
    ...access,
    folder: data,
    ...(crashBefore !== undefined && {
      environment: { CRASH_BEFORE: String(crashBefore) },
      nodeArguments: ['--import', path.join(import.meta.dirname, '_crash-before.mjs')],
    }),
  });

type Reachable = Pick<S3ServerProcess, 'endpoint'>;

const call = async (server: Reachable, target: string, request?: SignedRequest) => {
  const answer = await signedFetch(server.endpoint, target, request);
  return {
    status: answer.status,
    body: Buffer.from(await answer.arrayBuffer()),
    etag: answer.headers.get('etag') ?? '',
  };
};

/** A new server over a folder that a killed one left, in this process. */
async function restart(data: string) {
  const { accessKey, secretKey, region } = access;
  const server = createS3Server({ folder: data, keys: [{ accessKey, secretKey }], region });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { endpoint: `http://127.0.0.1:${port}`, stop };
}

/** Starts over a copy of `state`, arms the crash, performs, and returns what was printed and whether it was answered. */
async function performUntilCrash(state: string, crashBefore: number, perform: (server: Reachable) => Promise<number>) {
  const data = path.join(folder, `run-${++runs}`);
  await cp(state, data, { recursive: true });
  const server = await start(data, crashBefore);
  // The first answer comes after the folder is prepared.
  await call(server, '/');
  process.kill(server.pid, 'SIGUSR2');
  while ((await server.nextLine()) !== 'armed');
  const status = await perform(server).catch(() => undefined);
  await server.stop('SIGKILL');
  const calls: string[] = [];
  for (let line = await server.nextLine(); line !== undefined; line = await server.nextLine()) calls.push(line);
  return { data, status, calls };
}

describe('kill -9 before any single file operation', () => {
  const before = randomBytes(300_000);
  const after = randomBytes(200_000);
  const parts = [randomBytes(600_000)];
  const uploads: { readonly uploadId: string; readonly document: string }[] = [];
  let state: string;

  beforeAll(async () => {
    state = path.join(folder, 'state');
    const server = await start(state);
    await call(server, '/bucket', { method: 'PUT' });
    await call(server, '/bucket/a/object', { method: 'PUT', body: before });
    for (const key of ['a/object', 'new/joined']) {
      const created = await call(server, `/bucket/${key}?uploads`, { method: 'POST' });
      const uploadId = xmlText(created.body.toString(), 'UploadId') ?? '';
      let document = '';
      for (const [index, body] of parts.entries()) {
        const { etag } = await call(server, `/bucket/${key}?partNumber=${index + 1}&uploadId=${uploadId}`, {
          method: 'PUT',
          body,
        });
        document += `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`;
      }
      uploads.push({ uploadId, document: `<CompleteMultipartUpload>${document}</CompleteMultipartUpload>` });
    }
    await server.stop();
  });

  const complete = (key: string, index: number) => (server: Reachable) =>
    call(server, `/bucket/${key}?uploadId=${uploads[index]?.uploadId}`, {
      method: 'POST',
      body: uploads[index]?.document ?? '',
    });

  test.each([
    {
      name: 'replacing an object',
      key: 'a/object',
      old: before,
      next: after,
      perform: (server: Reachable) => call(server, '/bucket/a/object', { method: 'PUT', body: after }),
    },
    {
      name: 'putting an object into new folders',
      key: 'b/c/object',
      old: undefined,
      next: after,
      perform: (server: Reachable) => call(server, '/bucket/b/c/object', { method: 'PUT', body: after }),
    },
    {
      name: 'copying an object',
      key: 'copied/object',
      old: undefined,
      next: before,
      perform: (server: Reachable) =>
        call(server, '/bucket/copied/object', {
          method: 'PUT',
          headers: { 'x-amz-copy-source': '/bucket/a/object' },
          body: '',
        }),
    },
    {
      name: 'completing an upload over an object',
      key: 'a/object',
      old: before,
      next: Buffer.concat(parts),
      perform: complete('a/object', 0),
    },
    {
      name: 'completing an upload',
      key: 'new/joined',
      old: undefined,
      next: Buffer.concat(parts),
      perform: complete('new/joined', 1),
    },
    {
      name: 'removing an object',
      key: 'a/object',
      old: before,
      next: undefined,
      perform: (server: Reachable) => call(server, '/bucket/a/object', { method: 'DELETE' }),
    },
  ])(
    '$name leaves the old or the new object, which is listed and can be worked on',
    async ({ key, old, next, perform }) => {
      const outcomes = new Set<string>();
      for (let crashBefore = 1; ; crashBefore++) {
        const { data, status } = await performUntilCrash(
          state,
          crashBefore,
          async (server) => (await perform(server)).status,
        );
        const server = await restart(data);
        const found = await call(server, `/bucket/${key}`);
        const version = found.status === 404 ? undefined : found.body;
        const isNew = same(version, next);
        expect(isNew || same(version, old)).toBe(true);
        const listed = xmlTexts((await call(server, '/bucket?list-type=2')).body.toString(), 'Key');
        expect(listed.includes(key)).toBe(version !== undefined);
        expect(await readdir(path.join(data, '.tmp'))).toEqual([]);
        if (next && !isNew)
          expect((await call(server, `/bucket/${key}`, { method: 'PUT', body: next })).status).toBe(200);
        server.stop();
        await rm(data, { recursive: true });
        outcomes.add(isNew ? 'new' : 'old');
        if (status === undefined) continue;
        expect(status).toBeLessThan(300);
        expect(isNew).toBe(true);
        break;
      }
      expect(outcomes).toEqual(new Set(['old', 'new']));
    },
    180_000,
  );

  test('the file is on the disk before it is published, and its folder before the answer', async () => {
    const put = (server: Reachable) => call(server, '/bucket/b/object', { method: 'PUT', body: after });
    const { calls } = await performUntilCrash(state, 0, async (server) => (await put(server)).status);
    const published = calls.indexOf('rename');
    expect(calls.slice(0, published)).toEqual(expect.arrayContaining(['writeFile', 'sync', 'mkdir']));
    expect(calls.lastIndexOf('writeFile')).toBeLessThan(calls.indexOf('sync'));
    expect(calls.slice(published)).toEqual(['rename', 'open', 'sync']);
  });
});

test('kill -9 under load keeps every acknowledged version whole', async () => {
  const data = path.join(folder, 'load');
  const keys = ['x/1', 'x/2', 'y/3', 'y/4'];
  const acknowledged = new Map<string, number>();
  let server = await start(data);
  await call(server, '/bucket', { method: 'PUT' });
  for (let round = 0; round < 5; round++) {
    let acknowledgements = 0;
    const writers = keys.map(async (key) => {
      for (let version = (acknowledged.get(key) ?? 0) + 1; ; version++) {
        const body = Buffer.alloc(100_000 + version, version % 256);
        const answer = await call(server, `/bucket/${key}`, {
          method: 'PUT',
          body,
          headers: { 'x-amz-meta-version': String(version) },
        });
        if (answer.status !== 200) throw new Error(`A put was answered ${answer.status}`);
        acknowledged.set(key, version);
        if (++acknowledgements === 20 + 7 * round) void server.stop('SIGKILL');
      }
    });
    const ends = await Promise.allSettled(writers);
    expect(ends.every((end) => end.status === 'rejected' && String(end.reason).startsWith('TypeError'))).toBe(true);
    await server.exited;
    server = await start(data);
    for (const key of keys) {
      const answer = await signedFetch(server.endpoint, `/bucket/${key}`);
      const version = Number(answer.headers.get('x-amz-meta-version'));
      const body = Buffer.from(await answer.arrayBuffer());
      expect(version).toBeGreaterThanOrEqual(acknowledged.get(key) ?? 1);
      expect(body.equals(Buffer.alloc(100_000 + version, version % 256))).toBe(true);
      acknowledged.set(key, version);
    }
  }
  await server.stop('SIGKILL');
});

describe('a body that is not the announced one', () => {
  let server: S3ServerProcess;
  let data: string;
  beforeAll(async () => {
    data = path.join(folder, 'bodies');
    server = await start(data);
    await call(server, '/bucket', { method: 'PUT' });
    await call(server, '/bucket/object', { method: 'PUT', body: 'before' });
  });
  afterAll(() => server.stop('SIGKILL'));

  const expectUntouched = async () => {
    expect((await call(server, '/bucket/object')).body.toString()).toBe('before');
    expect(xmlTexts((await call(server, '/bucket')).body.toString(), 'Key')).toEqual(['object']);
  };

  test.each([
    ['another SHA-256 than signed', 'XAmzContentSHA256Mismatch', { payload: '0'.repeat(64) }],
    ['another MD5 than announced', 'BadDigest', { headers: { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' } }],
  ])('%s is refused and leaves nothing', async (_, code, request) => {
    const answer = await call(server, '/bucket/object', { method: 'PUT', body: randomBytes(200_000), ...request });
    expect([answer.status, xmlText(answer.body.toString(), 'Code')]).toEqual([400, code]);
    expect(await readdir(path.join(data, '.tmp'))).toEqual([]);
    await expectUntouched();
  });

  test('a connection that breaks in the middle leaves nothing', async () => {
    const { hostname, port: serverPort } = new URL(server.endpoint);
    const socket = connect(Number(serverPort), hostname);
    await once(socket, 'connect');
    // Signed by the same client, sent by hand: half of the body, then the end of the connection.
    let head = '';
    const recorder = createServer((request, response) => {
      head = `${request.method} ${request.url} HTTP/1.1\r\n`;
      for (const [name, value] of Object.entries(request.headers)) head += `${name}: ${value}\r\n`;
      request.resume().on('end', () => response.end());
    });
    recorder.listen(0, '127.0.0.1');
    await once(recorder, 'listening');
    const { port } = recorder.address() as AddressInfo;
    const body = randomBytes(400_000);
    await signedFetch(`http://127.0.0.1:${port}`, '/bucket/object', { method: 'PUT', body });
    recorder.close();
    recorder.closeAllConnections();
    socket.write(`${head}\r\n`);
    socket.write(body.subarray(0, 200_000));
    await vanishesAfter(path.join(data, '.tmp'), () => socket.destroy());
    await expectUntouched();
  });

  test('a body without a length is refused', async () => {
    const stream = new ReadableStream({ pull: (c) => (c.enqueue(Buffer.from('x')), c.close()) });
    const signed = await signedFetch(server.endpoint, '/bucket/object', {
      method: 'PUT',
      payload: 'UNSIGNED-PAYLOAD',
      stream,
    });
    expect([signed.status, xmlText(await signed.text(), 'Code')]).toEqual([411, 'MissingContentLength']);
    await expectUntouched();
  });
});

const same = (a: Buffer | undefined, b: Buffer | undefined) => (a && b ? a.equals(b) : a === b);

/** Waits until the folder has a file, acts, and waits until it is empty. */
async function vanishesAfter(watched: string, act: () => void): Promise<void> {
  const deadline = Date.now() + 60_000;
  const until = async (met: (count: number) => boolean) => {
    while (!met((await readdir(watched)).length))
      if (Date.now() > deadline) throw new Error('The condition is never met');
  };
  await until((count) => count > 0);
  act();
  await until((count) => count === 0);
}
