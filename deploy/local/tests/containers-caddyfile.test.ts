import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from '@jest/globals';
import { workspaceRoot } from '@longwave/fleet';
import { publicHosts, routesOf, services } from '@longwave/services';
import { withPrograms } from '@longwave/test-kit/with-programs';
import { startCaddy } from './_caddy.ts';

const hostNames = { base: 'pod.example', mcp: 'mcp.pod.example', api: 'api.pod.example', media: 'media.pod.example' };

/** A server in place of each container, which answers with the name of the container and the client's address. */
async function startContainers(names: readonly string[]) {
  const stack = new AsyncDisposableStack();
  const addresses = new Map<string, string>();
  for (const name of names) {
    const server = createServer(({ headers }, answer) => answer.end(`${name} ${headers['x-forwarded-for']}`));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    stack.defer(() => void server.close());
    addresses.set(name, `127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
  return { addresses, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

withPrograms('TEST_CADDY')(
  'in front of containers, Caddy passes each path of a host to the service that the manifest names, and what no service has to none',
  async () => {
    const text = readFileSync(path.join(workspaceRoot, 'deploy/server/containers.Caddyfile'), 'utf8');
    const named = new Set([...text.matchAll(/reverse_proxy ([a-z-]+):\d+/g)].map(([, name]) => name!));
    await using containers = await startContainers([...named]);
    const folder = mkdtempSync(path.join(tmpdir(), 'longwave-containers-'));
    const caddyfile = path.join(folder, 'Caddyfile');
    writeFileSync(
      caddyfile,
      text.replace(/(?<=reverse_proxy )([a-z-]+):\d+/g, (_, name: string) => containers.addresses.get(name)!),
    );
    const caddy = await startCaddy(caddyfile, {});
    try {
      const answerOf = async (host: string, target: string) => (await caddy.get(host, target)).text;
      for (const host of publicHosts)
        for (const { prefix, service } of routesOf(services, host))
          for (const target of prefix === '' ? ['/', '/other/path'] : [prefix, `${prefix}/below`])
            expect([host, target, await answerOf(hostNames[host], target)]).toEqual([
              host,
              target,
              `${service} 127.0.0.1`,
            ]);
      // A longer word is another path.
      expect(await answerOf('pod.example', '/settingsX')).toBe('rest-gateway 127.0.0.1');
      expect(await answerOf('objects.pod.example', '/longwave/uploads/a')).toBe('objects 127.0.0.1');
      expect(await caddy.get('api.pod.example', '/other')).toEqual({ status: 404, text: '' });
    } finally {
      await caddy.stop();
      rmSync(folder, { recursive: true });
    }
  },
);
