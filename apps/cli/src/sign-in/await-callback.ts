import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { commandLineClient } from '@longwave/principal';
import { typed } from '../command.ts';

const style = `:root { color-scheme: light dark }
body { max-width: 32rem; margin: 20vh auto; padding: 0 1.5rem; font: 1.125rem/1.5 system-ui, sans-serif;
  color: light-dark(#1c1b19, #eeece8); background: light-dark(#fbfaf8, #171614) }
h1 { margin: 0; font-size: 1rem; color: light-dark(#6b6760, #a39e95) }`;
const styleDigest = createHash('sha256').update(style).digest('base64');

const page = (text: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<title>Longwave</title><style>${style}</style></head><body><h1>Longwave</h1><p>${text}</p></body></html>`;

function answer(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleDigest}'`,
      'Cache-Control': 'no-store',
      Connection: 'close',
    })
    .end(page(text));
}

/** An answer of the authorization server that waits on the registered callback. */
export interface Callback extends AsyncDisposable {
  /**
   * The parameters of the first answer with this state. Other requests, which any page in the browser can cause, are refused and change
   * nothing.
   */
  readonly answered: Promise<URLSearchParams>;
  /** Shows the result to the browser that brought the answer. */
  show(text: string): void;
}

/** Listens at the registered callback. Throws when its port is taken. */
export async function listenForCallback(state: string): Promise<Callback> {
  const { hostname, port, pathname } = new URL(commandLineClient.redirectUri);
  const { promise: answered, resolve } = Promise.withResolvers<URLSearchParams>();
  const waiting: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', commandLineClient.redirectUri);
    const states = url?.searchParams.getAll('state') ?? [];
    if (request.method !== 'GET' || url?.pathname !== pathname) return answer(response, 404, 'There is nothing here.');
    if (states.length !== 1 || states[0] !== state)
      return answer(response, 400, 'This is not an answer to the sign-in that is waiting.');
    waiting.push(response);
    resolve(url.searchParams);
  });
  await new Promise<void>((listening, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`Port ${port} is in use. Another “${typed} login” may be waiting; end it first.`)
          : error,
      ),
    );
    server.listen(Number(port), hostname, listening);
  });
  return {
    answered,
    show: (text) => waiting.splice(0).forEach((response) => answer(response, 200, text)),
    [Symbol.asyncDispose]: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeIdleConnections();
      }),
  };
}
