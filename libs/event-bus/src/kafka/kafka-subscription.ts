import type { Admin, Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { BusLogger } from '../bus-logger.ts';
import type { DeliveryRules } from '../deliver-in-order.ts';
import type { Subscription } from '../port.ts';
import { createMembership } from './kafka-membership.ts';
import type { KafkaPublisher } from './kafka-publisher.ts';
import { consumedTopics, consumerGroupId } from './kafka-topics.ts';

const errorPauseMs = 500;
/** Longest wait of one fetch; also how late a paused partition may be read again. */
const fetchWaitMs = 250;

export interface KafkaSubscriptionOptions {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly publisher: KafkaPublisher;
  readonly topic: string;
  readonly group: string;
  readonly partitions: number;
  readonly rules: DeliveryRules;
  readonly sessionTimeoutMs: number;
  readonly now: () => Date;
  readonly logger: BusLogger | undefined;
}

/** Consumes a topic and the group's redrive topic until closed; a consumer that lost its broker is replaced by a new one. */
export async function subscribeKafka(options: KafkaSubscriptionOptions): Promise<Subscription> {
  const { kafka, admin, publisher, topic, group, rules, now, logger, sessionTimeoutMs } = options;
  const heartbeatMs = Math.floor(sessionTimeoutMs / 4);
  const timers = new Set<NodeJS.Timeout>();
  const closing = new AbortController();
  const membership = createMembership({
    admin,
    publisher,
    topic,
    group,
    rules,
    heartbeatMs,
    closing: closing.signal,
    now,
    logger,
  });
  let consumer: Consumer | undefined;
  let restarting: Promise<void> | undefined;

  function later(run: () => void, delayMs: number): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, delayMs);
    timers.add(timer);
  }

  async function eachBatch(payload: EachBatchPayload): Promise<void> {
    const { topic: source, partition } = payload.batch;
    let delayMs: number | undefined;
    try {
      delayMs = await membership.deliver(payload);
    } catch (error) {
      delayMs = errorPauseMs;
      logger?.warn(
        { topic: source, group, partition, reason: reasonOf(error) },
        'Reading a partition of the bus was interrupted',
      );
    }
    // kafkajs joins again when it sees the error, after every handler of this member has finished.
    membership.throwIfEnded();
    // Other partitions go on meanwhile; the same messages are fetched again afterwards.
    if (delayMs !== undefined) later(payload.pause(), delayMs);
  }

  async function start(): Promise<void> {
    const fresh = kafka.consumer({
      groupId: consumerGroupId(topic, group),
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: heartbeatMs,
      maxWaitTimeInMs: fetchWaitMs,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 5, restartOnFailure: async () => false },
    });
    consumer = fresh;
    fresh.on('consumer.group_join', () => membership.join());
    fresh.on('consumer.crash', ({ payload }) => {
      if (consumer !== fresh || closing.signal.aborted) return;
      logger?.warn({ topic, group, reason: reasonOf(payload.error) }, 'The consumer lost its broker and starts again');
      restarting ??= restart().finally(() => (restarting = undefined));
    });
    await fresh.connect();
    await fresh.subscribe({ topics: consumedTopics(topic, group), fromBeginning: true });
    // Joining may wait until other members have finished what they have in hand.
    const running = fresh.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: options.partitions,
      eachBatch,
    });
    running.finally(() => closing.signal.aborted && fresh.disconnect()).catch(() => undefined);
  }

  async function restart(): Promise<void> {
    while (!closing.signal.aborted) {
      await new Promise<void>((resolve) => later(resolve, errorPauseMs));
      const failed = await start().then(
        () => false,
        () => true,
      );
      if (!failed) return;
      await consumer?.disconnect().catch(() => undefined);
    }
  }

  async function close(): Promise<void> {
    closing.abort();
    await restarting;
    await consumer?.disconnect().catch(() => undefined);
    for (const timer of timers) clearTimeout(timer);
  }

  try {
    await start();
  } catch (error) {
    await close();
    throw error;
  }
  let closed: Promise<void> | undefined;
  const closeOnce = () => (closed ??= close());
  return { close: closeOnce, [Symbol.asyncDispose]: closeOnce };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
