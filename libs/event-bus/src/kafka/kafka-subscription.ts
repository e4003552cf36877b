import type { Admin, Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { BusLogger } from '../bus-logger.ts';
import { deliverInOrder, type DeliveryRules } from '../deliver-in-order.ts';
import type { Subscription } from '../port.ts';
import { type Progress, progressMetadata, triesOf, tryParseProgress } from './kafka-progress.ts';
import type { KafkaPublisher } from './kafka-publisher.ts';
import { toDeadRecord, tryParseRecord } from './kafka-record.ts';
import { consumerGroupId, deadTopic, redriveTopic } from './kafka-topics.ts';
import { reportDeadLetter } from '../report-dead-letter.ts';

const errorPauseMs = 500;
/** Longest wait of one fetch; also how late a paused partition may be read again. */
const fetchWaitMs = 250;
const membershipErrors: readonly unknown[] = [
  'REBALANCE_IN_PROGRESS',
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
  'NOT_COORDINATOR_FOR_GROUP',
];

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

/**
 * Consumes a topic and the group's redrive topic until closed. Offsets are committed by hand: before a hand-over with the number of
 * its try, after it with the next position, so a member that lost its partition cannot hand anything over.
 */
export async function subscribeKafka(options: KafkaSubscriptionOptions): Promise<Subscription> {
  const { kafka, admin, publisher, topic, group, rules, now, logger, sessionTimeoutMs } = options;
  const topics = [topic, redriveTopic(topic, group)];
  const groupId = consumerGroupId(topic, group);
  const heartbeatInterval = Math.floor(sessionTimeoutMs / 4);
  const timers = new Set<NodeJS.Timeout>();
  const closing = new AbortController();
  /** Of this membership only: forgotten at every rebalance. */
  let progress = new Map<string, Progress>();
  let committed: Promise<Map<string, Progress>> | undefined;
  let membershipEnd: unknown;
  let consumer: Consumer | undefined;
  let restarting: Promise<void> | undefined;

  function later(run: () => void, delayMs: number): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, delayMs);
    timers.add(timer);
  }

  async function readCommitted(): Promise<Map<string, Progress>> {
    const found = new Map<string, Progress>();
    for (const { topic: name, partitions } of await admin.fetchOffsets({ groupId, topics })) {
      for (const { partition, offset, metadata } of partitions) {
        if (!offset.startsWith('-')) found.set(`${name}/${partition}`, tryParseProgress(offset, metadata));
      }
    }
    return found;
  }

  async function progressOf(place: string, firstOffset: string): Promise<Progress> {
    committed ??= readCommitted().catch((error: unknown) => {
      committed = undefined;
      throw error;
    });
    const known = progress.get(place) ?? (await committed).get(place);
    // A topic made anew starts again at a lower offset.
    return known !== undefined && known.offset <= BigInt(firstOffset) ? known : tryParseProgress(firstOffset, null);
  }

  async function deliverBatch({
    batch,
    resolveOffset,
    heartbeat,
    commitOffsetsIfNecessary,
    isRunning,
    isStale,
  }: EachBatchPayload) {
    const first = batch.messages[0];
    if (first === undefined) return undefined;
    const place = `${batch.topic}/${batch.partition}`;
    let reached = await progressOf(place, first.offset);
    let dirty = false;
    const held = batch.messages.map((record) => tryParseRecord(topic, record, triesOf(BigInt(record.offset), reached)));

    async function commit(next: Progress): Promise<void> {
      const position = { partition: batch.partition, offset: String(next.offset), metadata: progressMetadata(next) };
      await commitOffsetsIfNecessary({ topics: [{ topic: batch.topic, partitions: [position] }] });
      reached = next;
      progress.set(place, next);
      dirty = false;
    }
    function finish(position: string): void {
      const offset = BigInt(position) + 1n;
      resolveOffset(position);
      reached = {
        offset,
        tries: offset < reached.until ? 1 : 0,
        until: reached.until > offset ? reached.until : offset,
      };
      progress.set(place, reached);
      dirty = true;
    }

    const beat = setInterval(() => {
      heartbeat().catch((error: unknown) => {
        if (endsMembership(error)) membershipEnd ??= error;
      });
    }, heartbeatInterval);
    try {
      return await deliverInOrder(held, rules, {
        async recordTry(chunk) {
          const head = chunk[0];
          const last = chunk.at(-1);
          if (head === undefined || last === undefined) return;
          const end = BigInt(last.position) + 1n;
          await commit({
            offset: BigInt(head.position),
            tries: head.tries + 1,
            until: end > reached.until ? end : reached.until,
          });
        },
        async acknowledge(chunk) {
          const last = chunk.at(-1);
          if (last !== undefined) finish(last.position);
        },
        async bury(one, error) {
          await publisher.send([{ topic: deadTopic(topic, group), record: toDeadRecord(one, error, now()) }]);
          reportDeadLetter({ topic, group, logger }, one);
          finish(one.position);
        },
        stopping: () => !isRunning() || isStale() || closing.signal.aborted || membershipEnd !== undefined,
      });
    } finally {
      clearInterval(beat);
      if (dirty) await commit(reached);
    }
  }

  async function eachBatch(payload: EachBatchPayload): Promise<void> {
    const { topic: source, partition } = payload.batch;
    let delayMs: number | undefined;
    try {
      delayMs = await deliverBatch(payload);
    } catch (error) {
      if (endsMembership(error)) membershipEnd ??= error;
      delayMs = errorPauseMs;
      logger?.warn(
        { topic: source, group, partition, reason: reasonOf(error) },
        'Reading a partition of the bus was interrupted',
      );
    }
    // kafkajs joins again when it sees the error, after every handler of this member has finished.
    if (membershipEnd !== undefined) throw membershipEnd as Error;
    // Other partitions go on meanwhile; the same messages are fetched again afterwards.
    if (delayMs !== undefined) later(payload.pause(), delayMs);
  }

  async function start(): Promise<void> {
    const fresh = kafka.consumer({
      groupId,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval,
      maxWaitTimeInMs: fetchWaitMs,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 5, restartOnFailure: async () => false },
    });
    consumer = fresh;
    fresh.on('consumer.group_join', () => {
      progress = new Map();
      committed = undefined;
      membershipEnd = undefined;
    });
    fresh.on('consumer.crash', ({ payload }) => {
      if (consumer !== fresh || closing.signal.aborted) return;
      logger?.warn({ topic, group, reason: reasonOf(payload.error) }, 'The consumer lost its broker and starts again');
      restarting ??= restart().finally(() => (restarting = undefined));
    });
    await fresh.connect();
    await fresh.subscribe({ topics, fromBeginning: true });
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

function endsMembership(error: unknown): boolean {
  return error instanceof Error && 'type' in error && membershipErrors.includes(error.type);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
