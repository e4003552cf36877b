import path from 'node:path';
import { workspaceRoot, type FleetOptions } from '@longwave/fleet';
import { ensurePackagedServices } from '@longwave/package/packaged-services';
// eslint-disable-next-line @nx/enforce-module-boundaries -- tools are programs of the repository, no project with a name
import { fetchKafka } from '../../tools/foreign-kafka.mjs';
// eslint-disable-next-line @nx/enforce-module-boundaries -- as above
import { fetchVersityGateway } from '../../tools/foreign-s3.mjs';

/** How a fleet differs from that of one machine where it has the shape of a cluster. */
export type ClusterProfile = Required<Pick<FleetOptions, 'engines' | 'replicas' | 'packages'>>;

/**
 * The shape of a cluster, on one machine: packaged services, two processes of each, Apache Kafka, an S3 server that is not ours, PostgreSQL and
 * Redis with TLS. What is missing is fetched and packaged first. Rejects with a sentence where that cannot be.
 * @param onProgress called with what was done or begins
 */
export async function clusterProfile(onProgress: (text: string) => void): Promise<ClusterProfile> {
  const [kafka, s3] = await Promise.all([fetchKafka({ onProgress }), fetchVersityGateway({ onProgress })]);
  if ('unavailable' in kafka) throw new Error(kafka.unavailable);
  if ('unavailable' in s3) throw new Error(s3.unavailable);
  const packages = path.join(workspaceRoot, 'dist/cluster');
  await ensurePackagedServices(packages, (service, ms) =>
    onProgress(`Packaged ${service} in ${(ms / 1000).toFixed(1)} s`),
  );
  return { packages, replicas: 2, engines: { tls: true, kafkaJars: kafka.jars, versityGateway: s3.binary } };
}
