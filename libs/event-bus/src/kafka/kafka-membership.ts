import type { Admin, EachBatchPayload } from 'kafkajs';
import type { BusLogger } from '../bus-logger.ts';
import { deliverInOrder, type DeliveryRules } from '../deliver-in-order.ts';
import { reportDeadLetter } from '../report-dead-letter.ts';
import { type Progress, progressMetadata, triesOf, tryParseProgress } from './kafka-progress.ts';
import type { KafkaPublisher } from './kafka-publisher.ts';
import { toDeadRecord, tryParseRecord } from './kafka-record.ts';
import { consumedTopics, consumerGroupId, deadTopic } from './kafka-topics.ts';

const membershipErrors: readonly unknown[] = [
  'REBALANCE_IN_PROGRESS',
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
  'NOT_COORDINATOR_FOR_GROUP',
];

export interface MembershipOptions {
  readonly admin: Admin;
  readonly publisher: KafkaPublisher;
  readonly topic: string;
  readonly group: string;
  readonly rules: DeliveryRules;
  readonly heartbeatMs: number;
  /** Aborted when the subscription closes: no further message is handed over. */
  readonly closing: AbortSignal;
  readonly now: () => Date;
  readonly logger: BusLogger | undefined;
}

/** A consumer's membership of its group: how far the group is in each partition, valid until the next rebalance. */
export interface Membership {
  /** The consumer has joined: what was known of the partitions is read again. */
  join(): void;
  /** Delivers a fetched batch; answers the back-off in milliseconds when its first message must wait for the next try. */
  deliver(payload: EachBatchPayload): Promise<number | undefined>;
  /** Throws the broker's error by which the membership ended, if it did. */
  throwIfEnded(): void;
}

/**
 * Offsets are committed by hand: before a hand-over with the number of its try, after it with the next position, so a member that
 * lost its partition cannot hand anything over.
 */
export function createMembership(options: MembershipOptions): Membership {
  const { admin, publisher, topic, group, rules, heartbeatMs, closing, now, logger } = options;
  let progress = new Map<string, Progress>();
  let committed: Promise<Map<string, Progress>> | undefined;
  let end: unknown;

  function noteEnd(error: unknown): void {
    if (endsMembership(error)) end ??= error;
  }

  async function readCommitted(): Promise<Map<string, Progress>> {
    const found = new Map<string, Progress>();
    const request = { groupId: consumerGroupId(topic, group), topics: consumedTopics(topic, group) };
    for (const { topic: name, partitions } of await admin.fetchOffsets(request)) {
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
      heartbeat().catch(noteEnd);
    }, heartbeatMs);
    try {
      return await deliverInOrder(held, rules, {
        async recordTry(chunk) {
          const head = chunk[0];
          const last = chunk.at(-1);
          if (head === undefined || last === undefined) return;
          const next = BigInt(last.position) + 1n;
          await commit({
            offset: BigInt(head.position),
            tries: head.tries + 1,
            until: next > reached.until ? next : reached.until,
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
        stopping: () => !isRunning() || isStale() || closing.aborted || end !== undefined,
      });
    } finally {
      clearInterval(beat);
      if (dirty) await commit(reached);
    }
  }

  return {
    join() {
      progress = new Map();
      committed = undefined;
      end = undefined;
    },
    deliver: (payload) =>
      deliverBatch(payload).catch((error: unknown) => {
        noteEnd(error);
        throw error;
      }),
    throwIfEnded() {
      if (end !== undefined) throw end as Error;
    },
  };
}

function endsMembership(error: unknown): boolean {
  return error instanceof Error && 'type' in error && membershipErrors.includes(error.type);
}
