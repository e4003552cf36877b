import type { Manifest, PublicHost, ServiceEntry } from './service-entry.ts';

/** The names of all services, in the manifest's order. */
export const namesOf = <S extends string>(manifest: Manifest<S>): readonly S[] => Object.keys(manifest) as S[];

/** The services that own a database schema, with it. */
export const schemaOwners = <S extends string>(
  manifest: Manifest<S>,
): readonly (readonly [service: S, schema: string])[] =>
  namesOf(manifest).flatMap((name) => {
    const { schema } = manifest[name];
    return schema === undefined ? [] : [[name, schema] as const];
  });

/** Everything under a path of a public host is answered by one service. */
export interface PublicRoute<S extends string> {
  /** Without a slash at the end. */
  readonly prefix: string;
  readonly service: S;
}

/** The routes of a public host; the first one that fits a path decides. */
export const routesOf = <S extends string>(manifest: Manifest<S>, host: PublicHost): readonly PublicRoute<S>[] =>
  namesOf(manifest)
    .flatMap((service) => (manifest[service].http?.[host] ?? []).map((prefix) => ({ prefix, service })))
    .sort((a, b) => b.prefix.length - a.prefix.length);

/** The service that has a public host for itself, so that the host's port is its own; undefined when paths have to be told apart. */
export function soleServiceOf<S extends string>(manifest: Manifest<S>, host: PublicHost): S | undefined {
  const [route, ...others] = routesOf(manifest, host);
  if (route?.prefix !== '' || others.length > 0) return undefined;
  return Object.keys(manifest[route.service].http ?? {}).length === 1 ? route.service : undefined;
}

/** The variable by which the callers of a service get its gRPC address: `AUTH_SERVER_ADDRESS`. */
export const addressVariableOf = (service: string): string => `${service.toUpperCase().replaceAll('-', '_')}_ADDRESS`;

/** The database role of the service that owns a schema. */
export const serviceRoleOf = (schema: string): string => `longwave_${schema}`;

/** The database role that makes and changes the tables of a schema, where services and migrations log in apart. */
export const migrationRoleOf = (schema: string): string => `longwave_${schema}_migration`;

/** The services whose entries say that they call this one. */
export const callersOf = <S extends string>(manifest: Manifest<S>, called: S): readonly S[] =>
  namesOf(manifest).filter((name) => manifest[name].calls.includes(called));

/** MB that V8 fills before it collects what is new. Streams leave their garbage at once instead of growing to V8's default of 48 MB. */
export const youngGenerationMbOf = ({ youngGenerationMb = 4 }: Pick<ServiceEntry, 'youngGenerationMb'>): number =>
  youngGenerationMb;
