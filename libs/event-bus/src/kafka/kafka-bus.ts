import type { KafkaSecurity } from '@longwave/service-kit';
import { type ISocketFactory, Kafka, logLevel } from 'kafkajs';
import type { BusLogger } from '../bus-logger.ts';
import { defaultBatchSize, defaultRetry } from '../deliver-in-order.ts';
import type { EventBus, Subscription } from '../port.ts';
import { createKafkaAdmin } from './kafka-admin.ts';
import { readDeadLetters } from './kafka-dead-letters.ts';
import { countWaiting } from './kafka-lag.ts';
import { createKafkaPublisher } from './kafka-publisher.ts';
import { toRecord } from './kafka-record.ts';
import { explainRefusal } from './kafka-refusal.ts';
import { subscribeKafka } from './kafka-subscription.ts';
import { deadTopic, redriveTopic } from './kafka-topics.ts';

const pingTimeoutMs = 3_000;

export interface KafkaBusConfig {
  /** host:port of the brokers to ask first. */
  readonly brokers: readonly string[];
  /** Default: neither TLS nor a login. */
  readonly security?: KafkaSecurity;
  readonly clientId: string;
  /** Partitions of a new topic; an existing topic keeps its number. Default 8. */
  readonly partitions?: number;
  /** Replicas of a new topic. Default -1: as many as the brokers say (`default.replication.factor`). */
  readonly replicationFactor?: number;
  /** A dead consumer's partitions are taken over after this time. Default 10000; brokers refuse less than 6000 by default. */
  readonly sessionTimeoutMs?: number;
  /** By topic, for new topics: how long messages are kept. A topic not named here is kept whole. */
  readonly retentionMs?: Readonly<Record<string, number>>;
  /** How to open connections, for networks that need more than host and port. */
  readonly socketFactory?: ISocketFactory;
  readonly logger?: BusLogger;
  readonly now?: () => Date;
}

/** The bus on Apache Kafka. Topics are created when they are first used. Rejects with the engine's error while no broker answers. */
export function createKafkaBus(config: KafkaBusConfig): EventBus {
  const {
    partitions = 8,
    replicationFactor = -1,
    sessionTimeoutMs = 10_000,
    retentionMs = {},
    security = { ssl: false },
    logger,
    now = () => new Date(),
  } = config;
  const kafka = new Kafka({
    clientId: config.clientId,
    brokers: [...config.brokers],
    ...security,
    connectionTimeout: 2_000,
    requestTimeout: 5_000,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 },
    // This library logs what operators need; kafkajs would also print addresses and payload sizes.
    logLevel: logLevel.NOTHING,
    ...(config.socketFactory && { socketFactory: config.socketFactory }),
  });
  const publisher = createKafkaPublisher(kafka);
  const subscriptions = new Set<Subscription>();
  const admin = createKafkaAdmin(kafka, { partitions, replicationFactor, retentionMs });
  let unreachable: string | undefined;

  /** Logs why Kafka cannot be used, each reason once until it can. */
  function noteUnreachable(reason: string): void {
    if (reason !== unreachable) logger?.warn({ reason }, 'Kafka cannot be used');
    unreachable = reason;
  }

  return {
    async publish(messages) {
      if (messages.length === 0) return;
      await Promise.all([...new Set(messages.map(({ topic }) => topic))].map((topic) => admin.ensureTopic(topic)));
      await publisher.send(messages.map((message) => ({ topic: message.topic, record: toRecord(message, now()) })));
    },

    async publishToAll(topic, messageOf) {
      await admin.ensureTopic(topic);
      const [metadata] = (await (await admin.connect()).fetchTopicMetadata({ topics: [topic] })).topics;
      const found = metadata!.partitions.map(({ partitionId }) => partitionId);
      await publisher.send(
        found.map((partition) => {
          const message = { topic, ...messageOf(partition, found.length) };
          return { topic, record: { ...toRecord(message, now()), partition } };
        }),
      );
    },

    async subscribe({ topic, group, handle, batchSize = defaultBatchSize, retry }) {
      await admin.ensureTopic(topic);
      await admin.ensureGroupTopics(topic, group);
      const rules = { handle, batchSize, retry: { ...defaultRetry, ...retry } };
      const subscription = await subscribeKafka({
        kafka,
        admin: await admin.connect(),
        publisher,
        topic,
        group,
        partitions,
        rules,
        sessionTimeoutMs,
        now,
        logger,
      });
      subscriptions.add(subscription);
      return subscription;
    },

    async countWaiting(topic, group) {
      await admin.ensureTopic(topic);
      await admin.ensureGroupTopics(topic, group);
      return countWaiting(await admin.connect(), topic, group);
    },

    async listDeadLetters(topic, group) {
      const letters = await readDeadLetters(kafka, await admin.connect(), topic, group);
      return letters.map(({ message, error, failedAt }) => ({ message, group, error, failedAt }));
    },

    async redriveDeadLetters(topic, group) {
      const connected = await admin.connect();
      const letters = await readDeadLetters(kafka, connected, topic, group);
      const last = letters.at(-1);
      if (last === undefined) return 0;
      await admin.ensureGroupTopics(topic, group);
      const target = redriveTopic(topic, group);
      await publisher.send(
        letters.map(({ message, publishedAt }) => ({ topic: target, record: toRecord(message, publishedAt) })),
      );
      const end = { partition: 0, offset: String(BigInt(last.offset) + 1n) };
      await connected.deleteTopicRecords({ topic: deadTopic(topic, group), partitions: [end] });
      return letters.length;
    },

    async ping() {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => {
        noteUnreachable('No broker answers in time.');
        resolve(false);
      }, pingTimeoutMs);
      const answered = admin.connect().then((connected) => connected.describeCluster());
      answered.then(
        () => {
          unreachable = undefined;
          resolve(true);
        },
        (error: unknown) => {
          noteUnreachable(explainRefusal(error, security));
          resolve(false);
        },
      );
      return promise.finally(() => clearTimeout(timer));
    },

    async [Symbol.asyncDispose]() {
      await Promise.all([...subscriptions].map((subscription) => subscription.close()));
      await publisher.close();
      await admin.close();
    },
  };
}
