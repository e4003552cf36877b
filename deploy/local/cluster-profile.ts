import path from 'node:path';
import { workspaceRoot, type FleetOptions, type OutsideEngines } from '@longwave/fleet';
import { ensurePackagedServices } from '@longwave/package/packaged-services';
// eslint-disable-next-line @nx/enforce-module-boundaries -- tools are programs of the repository, no project with a name
import { fetchKafka } from '../../tools/foreign-kafka.mjs';
// eslint-disable-next-line @nx/enforce-module-boundaries -- as above
import { fetchVersityGateway } from '../../tools/foreign-s3.mjs';

/** How a fleet differs from that of one machine where it has the shape of a cluster. */
export type ClusterProfile = Required<Pick<FleetOptions, 'engines' | 'replicas' | 'packages'>>;

/** Engines that this process's environment names, by the variables that services have. */
export function outsideEngines(): OutsideEngines {
  const { DATABASE_URL, REDIS_URL, S3_ENDPOINT, S3_REGION, S3_BUCKET, S3_ACCESS_KEY, S3_SECRET_KEY } = process.env;
  const { KAFKA_BROKERS, KAFKA_TLS, KAFKA_SASL_MECHANISM, KAFKA_USERNAME, KAFKA_PASSWORD } = process.env;
  if (S3_ENDPOINT && !(S3_ACCESS_KEY && S3_SECRET_KEY))
    throw new Error('S3_ENDPOINT needs S3_ACCESS_KEY and S3_SECRET_KEY beside it.');
  return {
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    kafkaBrokers: KAFKA_BROKERS,
    kafkaSecurity: {
      ...(KAFKA_TLS && { KAFKA_TLS }),
      ...(KAFKA_SASL_MECHANISM && { KAFKA_SASL_MECHANISM }),
      ...(KAFKA_USERNAME && { KAFKA_USERNAME }),
      ...(KAFKA_PASSWORD && { KAFKA_PASSWORD }),
    },
    objectStore: S3_ENDPOINT
      ? {
          ...{ endpoint: S3_ENDPOINT, region: S3_REGION ?? 'us-east-1', bucket: S3_BUCKET ?? 'longwave' },
          ...{ accessKey: S3_ACCESS_KEY!, secretKey: S3_SECRET_KEY! },
        }
      : undefined,
  };
}

/**
 * The shape of a cluster, on one machine: packaged services, two processes of each, an S3 server that is not ours, and Apache Kafka, PostgreSQL
 * and Redis with TLS. What is missing is fetched and packaged first. Rejects with a sentence where that cannot be.
 * @param onProgress called with what was done or begins
 * @param outside engines to use in place of those
 */
export async function clusterProfile(
  onProgress: (text: string) => void,
  outside: OutsideEngines = {},
): Promise<ClusterProfile> {
  const [kafka, s3] = await Promise.all([
    outside.kafkaBrokers === undefined ? fetchKafka({ onProgress }) : { jars: '' },
    outside.objectStore === undefined ? fetchVersityGateway({ onProgress }) : { binary: '' },
  ]);
  if ('unavailable' in kafka) throw new Error(kafka.unavailable);
  if ('unavailable' in s3) throw new Error(s3.unavailable);
  const packages = path.join(workspaceRoot, 'dist/cluster');
  await ensurePackagedServices(packages, (service, ms) =>
    onProgress(`Packaged ${service} in ${(ms / 1000).toFixed(1)} s`),
  );
  return { packages, replicas: 2, engines: { tls: true, kafkaJars: kafka.jars, versityGateway: s3.binary, outside } };
}
