import { afterEach, expect, test } from '@jest/globals';
import { freePort } from '@longwave/fleet';
import { serveHealth, type ReadinessChecks } from '../src/index.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function health(checks: ReadinessChecks) {
  const listen = `127.0.0.1:${await freePort()}`;
  const { close } = await serveHealth(listen, checks, (_, response) => response.end('# metrics'));
  cleanups.push(close);
  return async (path: string) => {
    const response = await fetch(`http://${listen}${path}`, { headers: { connection: 'close' } });
    return { status: response.status, body: await response.json() };
  };
}

test('a service whose dependencies work is alive and ready', async () => {
  const ask = await health({ postgres: async () => true, redis: async () => true });
  expect(await ask('/healthz')).toEqual({ status: 200, body: { status: 'alive' } });
  expect(await ask('/readyz')).toEqual({ status: 200, body: { status: 'ready', failed: [] } });
});

test('a service that cannot work stays alive and names every dependency that fails, hangs or answers false', async () => {
  const ask = await health({
    postgres: async () => {
      throw new Error('password=hunter2');
    },
    redis: async () => true,
    kafka: async () => false,
    objects: () => new Promise(() => undefined),
  });
  expect(await ask('/healthz')).toMatchObject({ status: 200 });
  expect(await ask('/readyz')).toEqual({
    status: 503,
    body: { status: 'not ready', failed: ['postgres', 'kafka', 'objects'] },
  });
});

test('readiness is asked anew each time', async () => {
  let ready = false;
  const ask = await health({ postgres: async () => ready });
  expect((await ask('/readyz')).status).toBe(503);
  ready = true;
  expect((await ask('/readyz')).status).toBe(200);
});

test('nothing else is served on the port', async () => {
  const ask = await health({});
  expect((await ask('/')).status).toBe(404);
});
