import { kafkaSecurity, readKafkaConfig } from '@longwave/service-kit';
import { namesOf } from '@longwave/services';
import type { Apps } from './apps.ts';

const maxWaitMs = 120_000;

/**
 * Waits until every follower of the manifest has joined its group at Kafka with all of its processes: before, a message may wait for as long
 * as members join one after the other. Rejects after two minutes with the groups that are not complete.
 * @param kafka the variables by which services reach it
 */
export async function awaitFollowers(
  kafka: Readonly<Record<string, string>>,
  { services }: Apps<string>,
  names: readonly string[],
  replicas: number,
): Promise<void> {
  const wanted = namesOf(services)
    .filter((name) => names.includes(name))
    .flatMap((name) => services[name]?.redis?.follows ?? [])
    .map(([topic, group]) => `${group}@${topic}`);
  // Loaded only here: the fleet of one machine does without.
  const { Kafka, logLevel } = await import('kafkajs');
  const config = readKafkaConfig(kafka);
  const admin = new Kafka({
    clientId: 'runner',
    brokers: [...(config.KAFKA_BROKERS ?? [])],
    ...kafkaSecurity(config),
    logLevel: logLevel.NOTHING,
  }).admin();
  await admin.connect();
  try {
    const incomplete = async () => {
      const { groups: listed } = await admin.listGroups();
      const { groups } = await admin.describeGroups([...new Set([...wanted, ...listed.map(({ groupId }) => groupId)])]);
      return groups
        .filter(({ state, members }) => state !== 'Stable' || members.length < replicas)
        .map(({ groupId }) => groupId);
    };
    const deadline = performance.now() + maxWaitMs;
    let missing = await incomplete();
    while (missing.length > 0) {
      if (performance.now() > deadline)
        throw new Error(`At Kafka these groups are not complete: ${missing.join(', ')}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
      missing = await incomplete();
    }
  } finally {
    await admin.disconnect();
  }
}
