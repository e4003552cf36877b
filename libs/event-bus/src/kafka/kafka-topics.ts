import type { Admin } from 'kafkajs';
import { parseBusName } from '../bus-name.ts';
import { untilLeadersElected } from './until-leaders-elected.ts';

/** Kafka topic of the messages that gave up in one group. */
export function deadTopic(topic: string, group: string): string {
  return `${parseBusName(topic)}.dead.${parseBusName(group)}`;
}

/** Kafka topic of the dead letters on their way back to one group. */
export function redriveTopic(topic: string, group: string): string {
  return `${parseBusName(topic)}.redrive.${parseBusName(group)}`;
}

/** The Kafka topics that a consumer of the group reads. */
export const consumedTopics = (topic: string, group: string): string[] => [topic, redriveTopic(topic, group)];

/** Kafka's group of one topic: members of a Kafka group must all read the same topics, a group of the bus reads any. */
export function consumerGroupId(topic: string, group: string): string {
  return `${parseBusName(group)}@${parseBusName(topic)}`;
}

export interface TopicRules {
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly retentionMs: number;
}

/** Creates those topics that do not exist; an existing topic keeps its partitions and settings. */
export async function createMissingTopics(admin: Admin, topics: ReadonlyMap<string, TopicRules>): Promise<void> {
  const existing = new Set(await admin.listTopics());
  const missing = [...topics].filter(([topic]) => !existing.has(topic));
  if (missing.length === 0) return;
  await admin.createTopics({
    waitForLeaders: false,
    topics: missing.map(([topic, { partitions, replicationFactor, retentionMs }]) => ({
      topic,
      numPartitions: partitions,
      replicationFactor,
      configEntries: [{ name: 'retention.ms', value: String(retentionMs) }],
    })),
  });
  await untilLeadersElected(() => admin.fetchTopicMetadata({ topics: missing.map(([topic]) => topic) }));
}
