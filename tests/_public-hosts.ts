import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import { createAddressSet } from '@longwave/audience';
import { createEdge, developmentCa, soleUpstream } from '@longwave/fleet';
import { reachHosts } from './_reach-hosts.mjs';

/** A proxy that ends TLS for host names of its own; disposing ends it, and what it changed in this process. */
export interface PublicHosts extends AsyncDisposable {
  /** Of all host names. */
  readonly port: number;
  /** The environment in which a service reaches the host names too. */
  readonly env: Readonly<Record<string, string>>;
  /** Decides what is behind a host name. */
  readonly route: (hostname: string, port: number) => void;
}

/** This process finds host names on this machine, and trusts one more authority. */
function reach(names: readonly string[], authority: string): () => void {
  const restoreHosts = reachHosts(names);
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, authority]);
  return () => {
    restoreHosts();
    tls.setDefaultCACertificates(before);
  };
}

/**
 * Starts a proxy on 127.0.0.1 as it stands in front of an installation: certificates for its host names, TLS ends here, requests go on with
 * their Host header. While it runs, this process reaches the host names. Clients choose their address by X-Forwarded-For.
 * @param folder for certificates
 */
export async function startPublicHosts(names: readonly string[], folder: string): Promise<PublicHosts> {
  const identities = await developmentCa(path.join(folder, 'public-tls'), names, new Date());
  const contexts = new Map(
    Object.entries(identities).map(([name, { cert, key }]) => [
      name,
      tls.createSecureContext({ cert: readFileSync(cert), key: readFileSync(key) }),
    ]),
  );
  const trustedProxies = createAddressSet(['127.0.0.1/32']);
  const edges = new Map<string, ReturnType<typeof createEdge>>();
  const server: Server = createServer(
    { SNICallback: (name, done) => done(null, contexts.get(name)) },
    (request, response) => {
      const edge = edges.get((request.headers.host ?? '').split(':')[0]!);
      if (!edge) return void response.writeHead(421).end();
      edge(request, response);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { ca } = Object.values(identities)[0]!;
  const restore = reach(names, readFileSync(ca, 'utf8'));
  return {
    port: (server.address() as AddressInfo).port,
    env: {
      NODE_OPTIONS: `--import ${path.join(import.meta.dirname, '_reach-hosts.mjs')}`,
      TEST_PUBLIC_CA: ca,
      TEST_PUBLIC_HOSTS: names.join(),
    },
    route: (hostname, port) =>
      void edges.set(hostname, createEdge([{ prefix: '', upstreams: [soleUpstream(port)] }], { trustedProxies })),
    [Symbol.asyncDispose]: async () => {
      restore();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
