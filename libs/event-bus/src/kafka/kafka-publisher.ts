import { type Kafka, type Message, Partitioners, type Producer } from 'kafkajs';

/** Below the broker's default `message.max.bytes` of 1 MiB even when one partition gets everything. */
const maxSendBytes = 512 * 1024;

interface TopicRecord {
  readonly topic: string;
  readonly record: Message;
}

interface Request {
  readonly records: readonly TopicRecord[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface KafkaPublisher {
  /** Resolves when all in-sync replicas have every record; rejects when any record is not known to be stored. */
  send(records: readonly TopicRecord[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * One idempotent producer (acks all, one request in flight); requests that arrive meanwhile go together in the next one.
 * After a failure the producer is replaced: the broker may have stored records under its next sequence numbers, and would drop others
 * with these numbers as repetitions.
 */
export function createKafkaPublisher(kafka: Kafka): KafkaPublisher {
  let waiting: Request[] = [];
  let producer: Producer | undefined;
  let draining: Promise<void> | undefined;

  async function sendChunk(records: readonly TopicRecord[]): Promise<void> {
    if (producer === undefined) {
      const fresh = kafka.producer({
        idempotent: true,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        createPartitioner: Partitioners.DefaultPartitioner,
        retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 },
      });
      await fresh.connect();
      producer = fresh;
    }
    const byTopic = Map.groupBy(records, ({ topic }) => topic);
    await producer.sendBatch({
      acks: -1,
      topicMessages: [...byTopic].map(([topic, of]) => ({ topic, messages: of.map(({ record }) => record) })),
    });
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const requests = waiting;
      waiting = [];
      let stored = 0;
      try {
        const records = requests.flatMap((request) => request.records);
        for (const chunk of chunksByBytes(records)) {
          await sendChunk(chunk);
          stored += chunk.length;
          for (let next = requests[0]; next !== undefined && next.records.length <= stored; next = requests[0]) {
            stored -= next.records.length;
            requests.shift();
            next.resolve();
          }
        }
      } catch (error) {
        const spent = producer;
        producer = undefined;
        for (const { reject } of requests) reject(error);
        await spent?.disconnect().catch(() => undefined);
      }
    }
    draining = undefined;
  }

  return {
    send(records) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.push({ records, resolve, reject });
      draining ??= drain();
      return promise;
    },
    async close() {
      await draining;
      await producer?.disconnect().catch(() => undefined);
    },
  };
}

function* chunksByBytes(records: readonly TopicRecord[]): Generator<TopicRecord[]> {
  let chunk: TopicRecord[] = [];
  let bytes = 0;
  for (const one of records) {
    const size = (one.record.value?.length ?? 0) * 2 + 200;
    if (chunk.length > 0 && bytes + size > maxSendBytes) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(one);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}
