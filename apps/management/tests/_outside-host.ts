import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGuardedFetch } from '@longwave/guarded-fetch';
import { createPublicFetch, type PublicFetch } from '../src/outside/public-fetch.ts';

export interface OutsideFile {
  readonly body: Buffer;
  readonly type?: string;
  /** Status of HEAD; default 200. */
  readonly headStatus?: number;
  /** False: the host answers a range with the whole file. */
  readonly ranges?: boolean;
  /** Default 200, or 206 for a range. */
  readonly status?: number;
}

/** Another host, on this machine, and the guarded fetch to it. */
export interface OutsideHost extends AsyncDisposable {
  readonly publicFetch: PublicFetch;
  /** Serves a file and returns its address. */
  readonly serve: (name: string, file: OutsideFile) => string;
  /** "GET /name bytes=0-9" of each request. */
  readonly requests: string[];
}

export async function startOutsideHost(): Promise<OutsideHost> {
  const files = new Map<string, OutsideFile>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { range } = request.headers;
    requests.push(`${request.method} ${request.url}${range ? ` ${range}` : ''}`);
    const file = files.get(request.url!);
    if (!file) return void response.writeHead(404).end();
    const { body, type, headStatus = 200, ranges = true, status } = file;
    const common = {
      ...(type !== undefined && { 'content-type': type }),
      ...(ranges && { 'accept-ranges': 'bytes' }),
    };
    if (request.method === 'HEAD')
      return void response.writeHead(headStatus, { ...common, 'content-length': body.length }).end();
    const asked = ranges && !status ? /^bytes=(\d+)-(\d+)$/.exec(range ?? '') : null;
    if (!asked) return void response.writeHead(status ?? 200, { ...common, 'content-length': body.length }).end(body);
    const part = body.subarray(Number(asked[1]), Number(asked[2]) + 1);
    response
      .writeHead(206, {
        ...common,
        'content-length': part.length,
        'content-range': `bytes ${asked[1]}-${Number(asked[1]) + part.length - 1}/${body.length}`,
      })
      .end(part);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    publicFetch: createPublicFetch(createGuardedFetch({ allowOrigins: [origin] })),
    serve: (name, file) => {
      files.set(`/${name}`, file);
      return `${origin}/${name}`;
    },
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An MPEG audio frame header (layer III, 128 kbit/s, 48 kHz) and its silence, repeated. */
export const mp3 = (frames = 20): Buffer =>
  Buffer.concat(
    Array.from({ length: frames }, () => {
      const frame = Buffer.alloc(384);
      frame.set([0xff, 0xfb, 0x94, 0x64]);
      return frame;
    }),
  );
