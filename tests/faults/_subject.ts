import { startFaultProxy, type Cut, type FaultProxy } from '@longwave/test-kit';
import { namesOf, services, type ServiceName } from '@longwave/services';
import { removeDataFolder, temporaryDataFolder, type FleetOptions } from '@longwave/fleet';
import { newInstallation } from '../_installation.ts';
import { startTestFleet, type Installation, type TestFleet } from '../_fleet.ts';
import { disks, openDisks, type DiskName } from './_disks.ts';
import { writePlansWithoutLimits } from '@longwave/test-kit/plans-without-limits';

const engines = ['postgres', 'redis', 'objectStore', 'kafka'] as const;
export type Engine = (typeof engines)[number];

/** The variable in which a service reads where an engine is. */
const variables: Readonly<Record<Engine, string>> = {
  postgres: 'DATABASE_URL',
  redis: 'REDIS_URL',
  objectStore: 'S3_ENDPOINT',
  kafka: 'KAFKA_BROKERS',
};

/** What a service is cut from. */
export interface Link {
  readonly service: ServiceName;
  readonly engine: Engine;
}

/** An installation under test, of whatever profile. */
export interface Subject extends AsyncDisposable {
  readonly world: Installation;
  /** The engines that it runs. */
  readonly engines: readonly Engine[];
  /** Every way from a service to an engine that can be cut. */
  readonly links: readonly Link[];
  /** Disks that can be filled. */
  readonly disks: readonly DiskName[];
  /** Takes all room of a disk; answers how it is given back. In a cluster it is that of the first process. */
  readonly fillDisk: (name: DiskName) => () => void;
  /** Processes of each service. */
  readonly replicas: number;
  /** kill -9 of one process of a service. */
  readonly killService: (name: ServiceName) => void;
  /** Stops every process of a service where it stands. Answers how it goes on. */
  readonly freezeService: (name: ServiceName) => Promise<() => Promise<void>>;
  readonly killEngine: (engine: Engine) => void;
  /** Stops an engine where it stands: whoever asks it hears nothing. Answers how it goes on. */
  readonly freezeEngine: (engine: Engine) => Promise<() => Promise<void>>;
  /** Cuts ways; answers how they are healed. */
  readonly cut: (links: readonly Link[], how: Cut) => Promise<() => Promise<void>>;
  /** Restarts every process in good order, one after the other. */
  readonly restartAll: () => Promise<void>;
}

/** Proxies between services and engines, made before the services start. */
async function openProxies(stack: AsyncDisposableStack) {
  const proxies = new Map<string, FaultProxy>();
  const links: Link[] = [];
  const nameOf = ({ service, engine }: Link) => `${service} ${engine}`;
  for (const service of namesOf(services)) {
    const { schema, redis, objects } = services[service];
    const used: Engine[] = [
      ...(schema ? (['postgres'] as const) : []),
      ...(redis ? (['redis'] as const) : []),
      ...(objects ? (['objectStore'] as const) : []),
    ];
    for (const engine of used) proxies.set(nameOf({ service, engine }), stack.use(await startFaultProxy()));
  }
  return {
    links,
    proxyOf: (link: Link) => proxies.get(nameOf(link))!,
    /** Leads the addresses in an environment through the proxies. */
    changeEnvironment(service: ServiceName, environment: Readonly<Record<string, string>>): Record<string, string> {
      const changed = { ...environment };
      for (const engine of engines) {
        const proxy = proxies.get(nameOf({ service, engine }));
        const address = environment[variables[engine]];
        if (!proxy || address === undefined) continue;
        const url = new URL(address);
        proxy.aimAt({ host: url.hostname, port: Number(url.port) });
        url.port = String(proxy.port);
        changed[variables[engine]] = url.href.replace(/\/$/, '');
        // Each process of a service leads through the same proxy.
        if (!links.some((link) => link.service === service && link.engine === engine)) links.push({ service, engine });
      }
      return changed;
    },
  };
}

/** An installation of the profile of this run, with a proxy between each service and each engine that it uses but Kafka. */
export async function startSubject(
  options: Partial<FleetOptions> = {},
): Promise<Subject & { readonly world: TestFleet }> {
  await using stack = new AsyncDisposableStack();
  const { links, proxyOf, changeEnvironment } = await openProxies(stack);
  const plans = temporaryDataFolder();
  stack.defer(() => removeDataFolder(plans));
  const data = stack.adopt(await newInstallation(), removeDataFolder);
  const ownDisks = openDisks(data);
  stack.use(ownDisks);
  const world = stack.use(
    await startTestFleet({
      mode: 'durable',
      dataFolder: data.root,
      ...options,
      changeEnvironment,
      env: {
        ...options.env,
        'auth-server': { PLANS_FILE: writePlansWithoutLimits(plans.inside('plans.json')) },
        management: { JOB_LEASE_MS: '10000', ...options.env?.management },
        'public-delivery': { DECIDE_DEADLINE_MS: '1000', ...options.env?.['public-delivery'] },
      },
    }),
  );
  const { fleet } = world;
  const owned = stack.move();
  return {
    world,
    engines: engines.filter((engine) => fleet.engines[engine] !== undefined),
    links,
    disks: ownDisks ? disks : [],
    fillDisk: (name) => ownDisks![name].fill(),
    replicas: fleet.replicas.management.length,
    killService: (name) => fleet.services[name].kill('SIGKILL'),
    freezeService: async (name) => {
      for (const each of fleet.replicas[name]) each.kill('SIGSTOP');
      return async () => fleet.replicas[name].forEach((each) => each.kill('SIGCONT'));
    },
    killEngine: (engine) => fleet.engines[engine]!.kill('SIGKILL'),
    freezeEngine: async (engine) => {
      fleet.engines[engine]!.kill('SIGSTOP');
      return async () => fleet.engines[engine]!.kill('SIGCONT');
    },
    cut: async (cutLinks, how) => {
      const cutProxies = cutLinks.map(proxyOf);
      await Promise.all(cutProxies.map((proxy) => proxy.cut(how)));
      return async () => void (await Promise.all(cutProxies.map((proxy) => proxy.heal())));
    },
    restartAll: async () => {
      for (const name of namesOf(services)) for (const each of fleet.replicas[name]) await each.restart();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
