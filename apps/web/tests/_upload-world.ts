import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer, json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { startTestObjectStore } from '@longwave/fleet';
import { sha256 } from '@longwave/test-kit';
import { Client } from 'minio';
import type { operations } from '../src/generated/openapi.d.ts';

type Grant = operations['uploadGrant']['responses'][201]['content']['application/json'];

const run = promisify(execFile);

/** Bytes of a part; S3 takes no smaller ones. */
export const partSize = 5 * 1024 ** 2;

/** A request that the store got and answered. */
interface StoreRequest {
  readonly method: string;
  /** Undefined: the whole file, or the list of parts. */
  readonly part: number | undefined;
  readonly status: number;
}

/** What stands between the page and the store. */
interface Obstacle {
  /** `lose`: the store does it, and its answer is lost. */
  (request: {
    readonly method: string;
    readonly part: number | undefined;
  }): 'pass' | 'hold' | 'refuse' | 'cut' | 'lose';
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, stop };
}

/** The script of the page in one file. esbuild begins ten times as fast as the bundler of the console does; it does not run inside of jest. */
async function bundle(): Promise<string> {
  const entryPoints = [path.join(import.meta.dirname, '_upload-page.ts')];
  const options = { entryPoints, bundle: true, format: 'esm', target: 'es2024', write: false };
  const program = `const { outputFiles } = await (await import('esbuild')).build(${JSON.stringify(options)}); process.stdout.write(outputFiles[0].text)`;
  return (await run(process.execPath, ['--input-type=module', '-e', program])).stdout;
}

/** The real store behind a proxy that keeps a log and can be an obstacle. */
async function startStore(stack: AsyncDisposableStack) {
  const store = stack.use(await startTestObjectStore());
  const log: StoreRequest[] = [];
  let obstacle: Obstacle = () => 'pass';
  const upstream = new URL(store.endpoint);
  const proxy = await listen(async (request, response) => {
    const { method = '', url = '' } = request;
    const number = new URL(url, store.endpoint).searchParams.get('partNumber');
    const part = number === null ? undefined : Number(number);
    // Others than the page ask as well: whoever grants.
    const isOfPage = request.headers.origin !== undefined;
    const met = isOfPage && method !== 'OPTIONS' ? obstacle({ method, part }) : 'pass';
    if (met === 'hold') return;
    if (met === 'cut') return void response.destroy();
    if (met === 'refuse') return void response.writeHead(403, { 'access-control-allow-origin': '*' }).end();
    const onward = ask({ host: upstream.hostname, port: upstream.port, method, path: url, headers: request.headers });
    // What a page that goes away has begun ends with it.
    response.once('close', () => onward.destroy());
    request.pipe(onward);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    if (isOfPage) log.push({ method, part, status: answer.statusCode ?? 0 });
    if (met === 'lose') return void response.destroy();
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  stack.defer(proxy.stop);
  const { region, accessKey, secretKey, bucket } = store;
  const client = new Client({ endPoint: '127.0.0.1', port: proxy.port, useSSL: false, region, accessKey, secretKey });
  await client.makeBucket(bucket);
  const set = (next: Obstacle) => void (obstacle = next);
  return { port: proxy.port, client, bucket, log, set };
}

/** The real store, a stand-in of REST v1's routes of uploads, and a page that uses both. */
export async function startUploadWorld() {
  await using stack = new AsyncDisposableStack();
  const [store, script] = await Promise.all([startStore(stack), bundle()]);
  const { client, bucket } = store;
  const granted = new Map<string, Grant & { readonly id: string; readonly object: string }>();
  const ended = new Set<string>();

  async function grant({ filename, filesize, idempotency_key: key }: Record<string, string>) {
    if (ended.has(key!)) return { status: 422, body: { code: 422, message: 'This upload has ended.' } };
    const id = `upl_${String(granted.size).padStart(26, '0')}`;
    const object = `uploads/${id}/${filename}`;
    const multipart = Number(filesize) > partSize && {
      ...{ upload_key: object, part_size: partSize },
      multipart_upload_id: await client.initiateNewMultipartUpload(bucket, object, {}),
    };
    const made = granted.get(key!) ?? {
      ...{ id, object, content_type: 'audio/wav', multipart_upload: multipart !== false, ...multipart },
      upload_url: await client.presignedPutObject(bucket, object, 3600),
      file_url: `http://media.test/delivery/v1/f/${id}/${filename}`,
    };
    granted.set(key!, made);
    return { status: 201, body: made };
  }
  const signed = async (method: string, body: Record<string, string>, query: Record<string, string>) => {
    const isEnded = [...granted].some(([key, { upload_key }]) => ended.has(key) && upload_key === body['upload_key']);
    if (isEnded) return { status: 422, body: { code: 422, message: 'URL generation failed' } };
    const all = { uploadId: body['multipart_upload_id']!, ...query };
    const url = await client.presignedUrl(method, bucket, body['upload_key']!, 3600, all);
    return { status: 200, body: { url, expires_at: '2026-11-27T12:00:00Z' } };
  };
  async function abort(uploadId: string) {
    const [key, made] = [...granted].find(([, { id }]) => id === uploadId)!;
    ended.add(key);
    if (made.multipart_upload) await client.abortMultipartUpload(bucket, made.object, made.multipart_upload_id!);
    else await client.removeObject(bucket, made.object);
    return { status: 204, body: undefined };
  }
  async function answer(method: string, path: string, body: Record<string, string>) {
    if (method === 'DELETE') return abort(path.split('/').at(-1)!);
    if (path === '/uploads') return grant(body);
    if (path === '/uploads/part_url') return signed('PUT', body, { partNumber: String(body['part_number']) });
    if (path === '/uploads/complete_multipart_url') return signed('POST', body, {});
    const object = [...granted.values()].find(({ id }) => path.endsWith(id))?.object ?? '';
    const { size } = await client.statObject(bucket, object).catch(() => ({ size: undefined }));
    return { status: 200, body: { size } };
  }

  const origin = `http://127.0.0.1:${store.port}`;
  const policy = `default-src 'none'; script-src 'self'; connect-src 'self' ${origin}; require-trusted-types-for 'script'`;
  const pages = await listen(async (request, response) => {
    const { url = '', method = '' } = request;
    if (url === '/') {
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy });
      return void response.end(
        '<!doctype html><title>Upload</title><input type="file"><script type="module" src="/upload.js"></script>',
      );
    }
    if (url === '/upload.js') return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
    const body = method === 'POST' ? ((await json(request)) as Record<string, string>) : {};
    const found = await answer(method, url.replace('/api/v1', ''), body);
    response
      .writeHead(found.status, { 'content-type': 'application/json' })
      .end(found.body && JSON.stringify(found.body));
  });
  stack.defer(pages.stop);
  const owned = stack.move();
  return {
    url: `http://127.0.0.1:${pages.port}/`,
    log: store.log,
    /** What the store's requests meet from now on. */
    meet: store.set,
    /** The grants so far, by their keys. */
    granted,
    /** Ends a grant, as a day does. */
    end: (key: string) => void ended.add(key),
    /** Whether a grant has ended. */
    hasEnded: (key: string) => ended.has(key),
    /** How many files the store has, whole or in parts. */
    countObjects: async () => {
      const [whole, begun] = await Promise.all([
        client.listObjectsV2(bucket, '', true).toArray(),
        client.listIncompleteUploads(bucket, '', true).toArray(),
      ]);
      return whole.length + begun.length;
    },
    /** SHA-256 of the object of a grant. */
    digestOf: async (fileUrl: string) => {
      const { object } = [...granted.values()].find(({ file_url }) => file_url === fileUrl)!;
      return sha256(await buffer(await client.getObject(bucket, object)));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
export type UploadWorld = Awaited<ReturnType<typeof startUploadWorld>>;
