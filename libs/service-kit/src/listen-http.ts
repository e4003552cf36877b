import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface HttpListener {
  readonly port: number;
  /** Refuses new connections, lets running responses finish (at most `drainMs`), then closes the rest. */
  close(drainMs?: number): Promise<void>;
}

/**
 * Serves HTTP on `listen` ("host:port", port 0 for any). Rejects with a sentence when the port is taken.
 * @param options.requestTimeoutMs how long a client may take to send its request, head and body; an answer may take any time
 */
export async function listenHttp(
  listen: string,
  handler: RequestListener,
  { requestTimeoutMs = 30_000 }: { readonly requestTimeoutMs?: number } = {},
): Promise<HttpListener> {
  const server: Server = createServer(
    {
      keepAliveTimeout: 65_000,
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: requestTimeoutMs / 10,
    },
    handler,
  );
  // Node closes only connections that rest between two requests; these two kinds would hold the server open.
  const unused = new Set<Socket>();
  let closing = false;
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    unused.delete(socket);
    response.once('close', () => closing && socket.destroySoon());
  });
  const at = listen.lastIndexOf(':');
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE' ? new Error(`${listen} is taken by another program`, { cause: error }) : error,
      ),
    );
    server.listen(Number(listen.slice(at + 1)), listen.slice(0, at), resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: (drainMs = 10_000) =>
      new Promise((resolve) => {
        closing = true;
        const force = setTimeout(() => server.closeAllConnections(), drainMs);
        server.close(() => {
          clearTimeout(force);
          resolve();
        });
        server.closeIdleConnections();
        for (const socket of unused) socket.destroy();
      }),
  };
}
