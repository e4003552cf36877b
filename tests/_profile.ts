import type { ClusterProfile } from '@longwave/local/cluster-profile';

/** How the fleets of this run differ from that of one machine: by `npm run fleet -- --profile cluster --test`, or not at all. */
export function profileOptions(): Partial<ClusterProfile> {
  // Set by `_run.mjs`, which packages services and fetches engines once for all tests.
  const profile = process.env['TEST_CLUSTER_PROFILE'];
  return profile === undefined ? {} : (JSON.parse(profile) as ClusterProfile);
}

/** Whether this run is about the shape of a cluster. */
export const isCluster = process.env['TEST_PROFILE'] === 'cluster';

/** The names of the processes of services, as `longwave status` has them. */
export const processesOf = (names: readonly string[]): readonly string[] =>
  isCluster ? names.flatMap((name) => [name, `${name}-2`]) : names;
