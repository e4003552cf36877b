import path from 'node:path';
import { readSecretsFile } from '@longwave/service-kit';
import type { ServiceEvent } from './keep-running.ts';
import { replicaNames } from './replica-names.ts';
import { serviceEnvironment, type Wiring } from './service-environment.ts';
import { superviseService, type SupervisedService } from './supervised-service.ts';

/** Starts every replica of some services at once and waits until all are ready. `stack` stops them. */
export async function startServices<S extends string>(
  names: readonly S[],
  wiring: Wiring<S>,
  options: {
    /** Added to (and overriding) a service's environment. */
    readonly env?: Readonly<Partial<Record<S, Readonly<Record<string, string>>>>>;
    /** See `FleetOptions`. */
    readonly changeEnvironment?: (service: S, environment: Readonly<Record<string, string>>) => Record<string, string>;
    readonly stack: AsyncDisposableStack;
    readonly onEvent: (event: ServiceEvent) => void;
    readonly timed: <T>(part: string, work: () => Promise<T>) => Promise<T>;
  },
): Promise<Readonly<Record<S, readonly SupervisedService[]>>> {
  const { apps, data, replicas, healthPorts } = wiring;
  const { env, changeEnvironment, stack, onEvent, timed } = options;
  const started: SupervisedService[] = [];
  stack.defer(async () => {
    await Promise.all(started.map((service) => service.stop()));
  });
  const environmentOf = (service: S, replica: number) => {
    const environment = { ...serviceEnvironment(service, replica, wiring), ...env?.[service] };
    // Addresses of engines stand in the file of secrets; what stands in the environment goes before.
    return (
      changeEnvironment?.(service, { ...readSecretsFile(data.loginsFile(service)), ...environment }) ?? environment
    );
  };
  const start = async (service: S, name: string, replica: number) => {
    const running = await superviseService({
      name,
      main: path.join(apps.appFolder(service), 'dist/main.js'),
      environment: environmentOf(service, replica),
      youngGenerationMb: apps.services[service].youngGenerationMb,
      healthAddress: `127.0.0.1:${healthPorts[service][replica]!}`,
      data,
      onEvent,
    });
    started.push(running);
    await running.ready();
    return running;
  };
  const processes = names.map(async (service) => {
    const named = replicaNames(service, replicas);
    const running = await Promise.all(named.map((name, replica) => timed(name, () => start(service, name, replica))));
    return [service, running] as const;
  });
  return Object.fromEntries<readonly SupervisedService[]>(await Promise.all(processes)) as Record<
    S,
    readonly SupervisedService[]
  >;
}
