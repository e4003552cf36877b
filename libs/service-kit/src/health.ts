import { createServer, type RequestListener, type Server } from 'node:http';
import { parseListenAddress } from './listen-address.ts';

/** A named check of one dependency; rejects or answers false when it does not work. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<boolean>>>;

async function run(check: () => Promise<boolean>): Promise<boolean> {
  const timeout = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 2_000).unref());
  return Promise.race([Promise.try(check).catch(() => false), timeout]);
}

/**
 * `/healthz` says the process lives, `/readyz` that it can work (503 names what cannot), `/metrics` what it measures. On its own port,
 * never public.
 */
export async function serveHealth(
  listen: string,
  checks: ReadinessChecks,
  serveMetrics: RequestListener,
): Promise<{ close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.url === '/healthz') return answer(200, { status: 'alive' });
    if (request.url === '/metrics') return serveMetrics(request, response);
    if (request.url !== '/readyz') return answer(404, { status: 'unknown path' });
    void Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await run(check)] as const)).then(
      (results) => {
        const failed = results.filter(([, ok]) => !ok).map(([name]) => name);
        answer(failed.length ? 503 : 200, { status: failed.length ? 'not ready' : 'ready', failed });
      },
    );
  });
  const { host, port } = parseListenAddress(listen);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { close: () => new Promise((resolve) => server.close(() => resolve())) };
}
