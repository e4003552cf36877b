import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpListener {
  readonly port: number;
  /** Refuses new connections, lets running responses finish (at most `drainMs`), then closes the rest. */
  close(drainMs?: number): Promise<void>;
}

/** Serves HTTP on `listen` ("host:port", port 0 for any). Rejects with a sentence when the port is taken. */
export async function listenHttp(listen: string, handler: RequestListener): Promise<HttpListener> {
  const server: Server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0, headersTimeout: 30_000 }, handler);
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
        const force = setTimeout(() => server.closeAllConnections(), drainMs);
        server.close(() => {
          clearTimeout(force);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
