import { namesOf, publicHosts, routesOf, soleServiceOf, type PublicHost } from '@longwave/services';
import type { Apps } from './apps.ts';
import { freePorts, isPortFree, reservePorts } from './free-ports.ts';
import type { FleetUrls } from './service-environment.ts';

/** The ports the outside uses; all others are private. */
export type PublicPorts = Readonly<Record<PublicHost | 'objectStore', number>>;

/** The public roots of an installation that only this machine reaches. */
export function localUrls({ base, mcp, api, media }: PublicPorts): FleetUrls {
  const url = (port: number) => `http://localhost:${port}`;
  return { base: url(base), mcp: url(mcp), api: url(api), media: url(media) };
}

/** Raised before anything is started. */
export class PortTaken extends Error {
  readonly port: number;
  /** The option of `npm start` that chooses another one. */
  readonly option: 'port-base' | 'metrics-port-base';

  constructor(port: number, purpose: string, option: PortTaken['option'] = 'port-base') {
    super(`Port ${port} (${purpose}) is used by another program`);
    this.name = 'PortTaken';
    this.port = port;
    this.option = option;
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

/**
 * The ports of health and metrics of each replica of each service, which are on 127.0.0.1: neighbours from `base` on, in the order of the
 * services, else free ones. Throws `PortTaken` when one of the neighbours is not free.
 */
export async function chooseMetricsPorts<S extends string>(
  names: readonly S[],
  replicas: number,
  base: number | undefined,
): Promise<Record<S, readonly number[]>> {
  if (base === undefined) return portsPerService(names, replicas);
  const entries = names.map(
    (name, at) => [name, Array.from({ length: replicas }, (_, replica) => base + at * replicas + replica)] as const,
  );
  for (const [name, ports] of entries)
    for (const port of ports)
      if (!(await isPortFree(port, '127.0.0.1'))) throw new PortTaken(port, `metrics of ${name}`, 'metrics-port-base');
  reservePorts(entries.flatMap(([, ports]) => ports));
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
