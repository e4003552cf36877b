import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A foreign web server, on this machine. */
export interface WebHost extends AsyncDisposable {
  readonly origin: string;
  /** Requests as "/path bytes=0-9". */
  readonly asked: string[];
  /** Bytes sent in bodies. */
  sentBytes(): number;
  /** Serves a file and answers its address. */
  serve(path: string, body: Buffer, options?: { readonly ranges?: boolean; readonly latencyMs?: number }): string;
  /** Serves with a handler and answers its address. */
  answer(path: string, answer: Answer): string;
}

export async function startWebHost(): Promise<WebHost> {
  const answers = new Map<string, Answer>();
  const asked: string[] = [];
  let sentBytes = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(request.headers.range ? `${path} ${request.headers.range}` : path);
    const answer = answers.get(path);
    if (answer) answer(request, response);
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer = (path: string, given: Answer) => {
    answers.set(path, given);
    return `${origin}${path}`;
  };
  return {
    origin,
    asked,
    sentBytes: () => sentBytes,
    answer,
    serve: (path, body, { ranges = true, latencyMs = 0 } = {}) =>
      answer(path, (request, response) => {
        const range = ranges ? /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') : undefined;
        const from = Number(range?.[1] ?? 0);
        const to = Math.min(body.length, range?.[2] ? Number(range[2]) + 1 : body.length);
        if (range && from >= to)
          return void response.writeHead(416, { 'content-range': `bytes */${body.length}` }).end();
        response.writeHead(range ? 206 : 200, {
          'content-length': to - from,
          ...(range && { 'content-range': `bytes ${from}-${to - 1}/${body.length}` }),
        });
        const write = (at: number) => {
          if (at >= to) return void response.end();
          const piece = body.subarray(at, Math.min(to, at + 65_536));
          sentBytes += piece.length;
          response.write(piece, (error) => error ?? write(at + piece.length));
        };
        setTimeout(() => write(from), latencyMs);
      }),
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
