import { kafkaSecurity } from '@longwave/service-kit';
import type { Check } from '../checks/check.ts';
import { checkDatabase } from './check-database.ts';
import { checkObjectStore } from './check-object-store.ts';
import { checkRedis } from './check-redis.ts';
import { readDeployment, serviceOf } from './deployment-environment.ts';

/** Everything that the variables of a service name: PostgreSQL, Redis, Kafka, the object store. What is not named is not looked at. */
export async function checkDependencies(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly Check[]> {
  const { values, faults } = readDeployment(environment);
  const { DATABASE_URL, REDIS_URL, KAFKA_BROKERS, S3_ENDPOINT, S3_REGION, S3_BUCKET } = values;
  const { S3_PUBLIC_ENDPOINT: publicEndpoint, BASE_URL: baseUrl } = environment;
  const { S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey } = values;
  const wrong = faults.map(([name, says]) => ({ part: 'variables', name, well: false, says }));
  const checks = await Promise.all([
    DATABASE_URL === undefined ? [] : checkDatabase(DATABASE_URL),
    REDIS_URL === undefined ? [] : checkRedis(REDIS_URL),
    // The client of Kafka is loaded only for Kafka.
    KAFKA_BROKERS &&
      import('./check-kafka.ts').then(({ checkKafka }) => checkKafka(KAFKA_BROKERS, kafkaSecurity(values))),
    S3_ENDPOINT && S3_REGION && S3_BUCKET && accessKey && secretKey
      ? checkObjectStore(
          {
            ...{ endpoint: S3_ENDPOINT, region: S3_REGION, bucket: S3_BUCKET, accessKey, secretKey },
            ...(publicEndpoint && { publicEndpoint }),
          },
          serviceOf(REDIS_URL),
          baseUrl,
        )
      : [],
  ]);
  return [...wrong, ...checks.flatMap((each) => each ?? [])];
}
