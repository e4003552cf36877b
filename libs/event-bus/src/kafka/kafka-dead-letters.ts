import { randomUUID } from 'node:crypto';
import type { Admin, Kafka } from 'kafkajs';
import type { DeadLetter } from '../port.ts';
import { parseDeadRecord } from './kafka-record.ts';
import { deadTopic } from './kafka-topics.ts';
import { untilLeadersElected } from './until-leaders-elected.ts';

const readTimeoutMs = 30_000;

export interface StoredDeadLetter extends DeadLetter {
  readonly publishedAt: Date;
  readonly offset: string;
}

/**
 * Reads the dead letters of a group, oldest first, under a group of its own that is deleted afterwards. The topic has one
 * partition; redriven records are deleted from its start. Throws when the broker does not answer within 30 s.
 */
export async function readDeadLetters(
  kafka: Kafka,
  admin: Admin,
  topic: string,
  group: string,
): Promise<StoredDeadLetter[]> {
  const source = deadTopic(topic, group);
  if (!(await admin.listTopics()).includes(source)) return [];
  const [range] = await untilLeadersElected(() => admin.fetchTopicOffsets(source));
  if (range === undefined || BigInt(range.low) >= BigInt(range.high)) return [];
  const last = BigInt(range.high) - 1n;
  const letters: StoredDeadLetter[] = [];
  const groupId = `${source}.reader.${randomUUID()}`;
  const reader = kafka.consumer({ groupId, maxWaitTimeInMs: 250, allowAutoTopicCreation: false });
  const done = Promise.withResolvers<void>();
  const timer = setTimeout(() => done.reject(new Error('The dead letters could not be read in time.')), readTimeoutMs);
  try {
    reader.on('consumer.crash', ({ payload }) => done.reject(payload.error));
    await reader.connect();
    await reader.subscribe({ topics: [source], fromBeginning: true });
    await reader.run({
      autoCommit: false,
      eachBatch: async ({ batch }) => {
        for (const record of batch.messages) {
          if (BigInt(record.offset) <= last)
            letters.push({ ...parseDeadRecord(topic, group, record), offset: record.offset });
        }
        if (BigInt(batch.lastOffset()) >= last) done.resolve();
      },
    });
    await done.promise;
  } finally {
    clearTimeout(timer);
    await reader.disconnect().catch(() => undefined);
    await admin.deleteGroups([groupId]).catch(() => undefined);
  }
  return letters;
}
