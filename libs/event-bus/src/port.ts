/** One message of a topic. `payload` is plain JSON; `id` is stable across redeliveries and is what consumers deduplicate by. */
export interface BusMessage {
  readonly topic: string;
  /** Messages with the same key keep their order. */
  readonly key: string;
  readonly id: string;
  /** `noun.participle`, for example "episode.published". */
  readonly type: string;
  readonly payload: unknown;
  /** Where in a trace the message was made (W3C Trace Context); absent outside of traces. */
  readonly traceparent?: string | undefined;
}

/** A message whose payload is text already: `json` is one JSON value, which the bus passes on without reading it. */
export interface SerialisedMessage extends Omit<BusMessage, 'payload'> {
  readonly json: string;
}

/** A message as a consumer sees it. */
export interface DeliveredMessage extends BusMessage {
  /** 1 for the first try. */
  readonly attempt: number;
  readonly publishedAt: Date;
}

export interface RetryPolicy {
  /** Tries of one message before it becomes a dead letter. */
  readonly attempts: number;
  /**
   * Consumers that may end without an answer (a crash, a kill) while they have one message in hand, before it becomes a dead
   * letter. Larger than `attempts`: a process that is killed often has done nothing wrong with its message.
   */
  readonly deaths: number;
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
}

export interface SubscribeOptions {
  readonly topic: string;
  /** Consumers of one group share the work; each group sees every message. A new group starts at the oldest message. */
  readonly group: string;
  /**
   * Handles messages of one partition in order. Resolving acknowledges all of them; throwing retries them with back-off, one at a
   * time from the failing one on, until the policy's attempts are used up; then that message alone goes to the dead letters.
   */
  readonly handle: (messages: readonly DeliveredMessage[]) => Promise<void>;
  /**
   * Calls `handle` with one message after the other, each as part of the trace in which it was made. Otherwise the work on a batch is
   * part of a trace only when all its messages are.
   */
  readonly oneByOne?: boolean;
  /** Most messages handed over at once. Default 100. */
  readonly batchSize?: number;
  readonly retry?: Partial<RetryPolicy>;
}

export interface Subscription extends AsyncDisposable {
  /** Stops reading; resolves when the message in hand is finished. */
  close(): Promise<void>;
}

export interface DeadLetter {
  readonly message: BusMessage;
  readonly group: string;
  readonly error: string;
  readonly failedAt: Date;
}

/** At-least-once delivery, ordered per key. Two adapters: Redis Streams (one machine) and Apache Kafka (cluster). */
export interface EventBus extends AsyncDisposable {
  /** Resolves when every message is durably accepted by the engine; rejects when any is not (the caller sends all again). */
  publish(messages: readonly (BusMessage | SerialisedMessage)[]): Promise<void>;
  /**
   * Publishes a message to every partition of a topic. In each partition it comes after all messages of this caller that were accepted
   * earlier. Resolves and rejects as `publish`.
   */
  publishToAll(
    topic: string,
    messageOf: (partition: number, partitions: number) => Omit<BusMessage, 'topic'>,
  ): Promise<void>;
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  /**
   * About how many messages of a topic its group has not finished, without dead letters. On Redis Streams, messages that have left
   * Redis for the archive are counted when they come back.
   */
  countWaiting(topic: string, group: string): Promise<number>;
  /** Dead letters of one group, oldest first. */
  listDeadLetters(topic: string, group: string): Promise<readonly DeadLetter[]>;
  /** Sends every dead letter of the group to that group again; answers how many. */
  redriveDeadLetters(topic: string, group: string): Promise<number>;
  /** True when the engine answers. */
  ping(): Promise<boolean>;
}
