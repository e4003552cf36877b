import type { Admin, Kafka } from 'kafkajs';
import { parseBusName } from '../bus-name.ts';
import { createMissingTopics, deadTopic, redriveTopic, type TopicRules } from './kafka-topics.ts';

const keepForEver = -1;

/** The admin connection of a bus, which creates topics when they are first used. */
export interface KafkaAdmin {
  /** The connection, opened at the first call. */
  connect(): Promise<Admin>;
  ensureTopic(topic: string): Promise<void>;
  /** Creates the topics of a group: of its dead letters, and of those on their way back. */
  ensureGroupTopics(topic: string, group: string): Promise<void>;
  close(): Promise<void>;
}

/** @param settings of new topics; `retentionMs` by topic, and those not named are kept whole */
export function createKafkaAdmin(
  kafka: Kafka,
  settings: Omit<TopicRules, 'retentionMs'> & { readonly retentionMs: Readonly<Record<string, number>> },
): KafkaAdmin {
  const { partitions, replicationFactor, retentionMs } = settings;
  const ensured = new Map<string, Promise<void>>();
  let connecting: Promise<Admin> | undefined;

  function connect(): Promise<Admin> {
    connecting ??= (async () => {
      const admin = kafka.admin();
      try {
        await admin.connect();
      } catch (error) {
        connecting = undefined;
        throw error;
      }
      return admin;
    })();
    return connecting;
  }

  async function ensureTopics(topics: ReadonlyMap<string, TopicRules>): Promise<void> {
    const name = [...topics.keys()].join();
    const known = ensured.get(name);
    if (known !== undefined) return known;
    const made = connect().then((admin) => createMissingTopics(admin, topics));
    ensured.set(name, made);
    return made.catch((error: unknown) => {
      ensured.delete(name);
      throw error;
    });
  }

  return {
    connect,
    ensureTopic: (topic) => {
      const rules = { partitions, replicationFactor, retentionMs: retentionMs[topic] ?? keepForEver };
      return ensureTopics(new Map([[parseBusName(topic), rules]]));
    },
    ensureGroupTopics: (topic, group) =>
      ensureTopics(
        new Map([
          [redriveTopic(topic, group), { partitions, replicationFactor, retentionMs: keepForEver }],
          [deadTopic(topic, group), { partitions: 1, replicationFactor, retentionMs: keepForEver }],
        ]),
      ),
    async close() {
      await connecting?.then((admin) => admin.disconnect()).catch(() => undefined);
    },
  };
}
