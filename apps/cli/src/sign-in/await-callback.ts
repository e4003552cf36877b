import { createServer, type ServerResponse } from 'node:http';
import { commandLineClient } from '@longwave/principal';

const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Longwave</title><p>${text}</p></html>`;

function answer(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'",
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
}

/** Listens at the registered callback. Throws when its port is taken. */
export async function listenForCallback(state: string): Promise<Callback> {
  const { hostname, port, pathname } = new URL(commandLineClient.redirectUri);
  const { promise: answered, resolve } = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', commandLineClient.redirectUri);
    const states = url?.searchParams.getAll('state') ?? [];
    if (request.method !== 'GET' || url?.pathname !== pathname) return answer(response, 404, 'There is nothing here.');
    if (states.length !== 1 || states[0] !== state)
      return answer(response, 400, 'This is not an answer to the sign-in that is waiting.');
    answer(response, 200, 'You can close this page and go back to the terminal.');
    resolve(url.searchParams);
  });
  await new Promise<void>((listening, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`Port ${port} is in use. Another “longwave login” may be waiting; end it first.`)
          : error,
      ),
    );
    server.listen(Number(port), hostname, listening);
  });
  return {
    answered,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeIdleConnections();
      }),
  };
}
