import { topics } from '@longwave/events';
import type { KafkaSecurity } from '@longwave/service-kit';
import { Kafka, logLevel, type Admin, type ITopicMetadata } from 'kafkajs';
import type { Check } from '../checks/check.ts';
import { within } from '../checks/within.ts';

const part = 'Kafka';
const advice =
  'Run three brokers, with default.replication.factor=3 and min.insync.replicas=2; kafka-reassign-partitions.sh gives topics that are there more copies.';

/** One topic of the services. A topic that is not there is well: services make it. */
export function checkTopic(name: string, metadata: ITopicMetadata | undefined): Check {
  if (metadata === undefined) return { part, name, well: true, says: 'not there yet: services make it' };
  const { partitions } = metadata;
  const copies = Math.min(...partitions.map(({ replicas }) => replicas.length));
  const says = `${partitions.length} partitions, copies of each: ${copies}`;
  if (copies < 2) return { part, name, well: false, says: `${says}. What its broker loses is lost`, advice };
  const late = partitions.filter(({ isr, replicas }) => isr.length < replicas.length).length;
  if (late === 0) return { part, name, well: true, says };
  return {
    ...{ part, name, well: false, says: `${says}. In ${late} partitions, copies are behind` },
    advice: 'A broker is down or too slow: read its log, and the size of its disk.',
  };
}

async function checkCluster(admin: Admin): Promise<readonly Check[]> {
  const { brokers } = await admin.describeCluster();
  const existing = await admin.listTopics();
  const ours = Object.values(topics).filter((topic) => existing.includes(topic));
  // Without a name, Kafka answers about all topics there are.
  const { topics: found } = ours.length > 0 ? await admin.fetchTopicMetadata({ topics: ours }) : { topics: [] };
  const well = brokers.length > 1;
  return [
    {
      ...{ part, name: 'brokers', well },
      says: well ? `${brokers.length} in the cluster` : '1 in the cluster. What it loses is lost',
      ...(!well && { advice }),
    },
    ...Object.values(topics).map((topic) =>
      checkTopic(
        topic,
        found.find(({ name }) => name === topic),
      ),
    ),
  ];
}

/** Asks one broker. @param ask with a connection to it, which is closed afterwards */
async function atBroker<T>(broker: string, security: KafkaSecurity, ask: (admin: Admin) => Promise<T>): Promise<T> {
  const timeouts = { connectionTimeout: 5_000, requestTimeout: 5_000, retry: { retries: 0 } };
  const client = { clientId: 'doctor', brokers: [broker], logLevel: logLevel.NOTHING };
  const admin = new Kafka({ ...client, ...security, ...timeouts }).admin();
  try {
    return await within(async () => {
      await admin.connect();
      return ask(admin);
    });
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

/** The brokers of KAFKA_BROKERS: whether each answers, how many the cluster has, and how safe the topics of the services are there. */
export async function checkKafka(brokers: readonly string[], security: KafkaSecurity): Promise<readonly Check[]> {
  const found = await Promise.allSettled(brokers.map((broker) => atBroker(broker, security, checkCluster)));
  const answers = found.flatMap((each, at): readonly Check[] => {
    const name = brokers[at]!;
    if (each.status === 'fulfilled') return [{ part, name, well: true, says: 'answers' }];
    return [
      {
        ...{ part, name, well: false, says: (each.reason as Error).message },
        advice:
          'Check KAFKA_BROKERS, KAFKA_TLS and the login, the firewall, and advertised.listeners of the broker: this machine must reach what stands there.',
      },
    ];
  });
  return [...answers, ...(found.find((each) => each.status === 'fulfilled')?.value ?? [])];
}
