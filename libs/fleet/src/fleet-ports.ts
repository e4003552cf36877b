import { namesOf, publicHosts, routesOf, soleServiceOf, type PublicHost } from '@longwave/services';
import type { Apps } from './apps.ts';
import { freePorts, isPortFree } from './free-ports.ts';

/** The ports the outside uses; all others are private. */
export type PublicPorts = Readonly<Record<PublicHost | 'objectStore', number>>;

/** Raised before anything is started. */
export class PortTaken extends Error {
  readonly port: number;

  constructor(port: number, purpose: string) {
    super(`Port ${port} (${purpose}) is used by another program`);
    this.name = 'PortTaken';
    this.port = port;
  }
}

const purposes: Readonly<Record<PublicHost, string>> = {
  base: 'web and REST API',
  mcp: 'MCP',
  api: 'ad server APIs',
  media: 'feeds and audio',
};

/**
 * The public ports. Throws `PortTaken` when one that is needed is not free.
 * @param host the address that they are bound to
 */
export async function choosePorts(
  apps: Apps<string>,
  wanted: PublicPorts | 'free',
  host: string,
): Promise<PublicPorts> {
  if (wanted === 'free') {
    const [base = 0, mcp = 0, api = 0, media = 0, objectStore = 0] = await freePorts(5);
    return { base, mcp, api, media, objectStore };
  }
  const used = [
    ...publicHosts
      .filter((host) => routesOf(apps.services, host).length > 0)
      .map((host) => [wanted[host], purposes[host]] as const),
    [wanted.objectStore, 'uploads'] as const,
  ];
  for (const [port, purpose] of used) if (!(await isPortFree(port, host))) throw new PortTaken(port, purpose);
  return wanted;
}

/** A free port for each replica of each service. */
export async function portsPerService<S extends string>(
  names: readonly S[],
  replicas: number,
): Promise<Record<S, readonly number[]>> {
  const ports = await freePorts(names.length * replicas);
  const entries = names.map((name, index) => [name, ports.slice(index * replicas, (index + 1) * replicas)] as const);
  return Object.fromEntries<readonly number[]>(entries) as Record<S, readonly number[]>;
}

/** One process of a service that has a public host for itself listens on the port of the host, all others behind its edge. */
export async function chooseHttpPorts<S extends string>(
  { services }: Apps<S>,
  ports: PublicPorts,
  replicas: number,
): Promise<Partial<Record<S, readonly number[]>>> {
  const chosen: Partial<Record<S, readonly number[]>> = await portsPerService(
    namesOf(services).filter((name) => services[name].http),
    replicas,
  );
  for (const host of publicHosts) {
    const sole = soleServiceOf(services, host);
    if (sole && replicas === 1) chosen[sole] = [ports[host]];
  }
  return chosen;
}
