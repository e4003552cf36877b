import type { BusMessage, DeliveredMessage, RetryPolicy } from './port.ts';

export const defaultRetry: RetryPolicy = { attempts: 10, deaths: 20, initialDelayMs: 200, maxDelayMs: 30_000 };
export const defaultBatchSize = 100;

/** A message of one partition that waits for its consumer. */
export interface HeldMessage {
  readonly message: BusMessage;
  readonly publishedAt: Date;
  /** The engine's name of its place: stream id or offset. */
  readonly position: string;
  /** How often it was handed over before; the engine stores this across crashes. */
  tries: number;
  /** Set when the stored record is not a message of this bus: why. */
  readonly unreadable?: string;
}

/** The engine that holds the messages. Every function may throw; then nothing is lost, only delivered again. */
export interface Holder {
  /** Stores one more try of these messages, before they are handed over. */
  recordTry(chunk: readonly HeldMessage[]): Promise<void>;
  acknowledge(chunk: readonly HeldMessage[]): Promise<void>;
  /** Moves one message to the dead letters. */
  bury(held: HeldMessage, error: string): Promise<void>;
  /** True when no further message may be handed over. */
  stopping(): boolean;
}

export interface DeliveryRules {
  readonly handle: (messages: readonly DeliveredMessage[]) => Promise<void>;
  readonly batchSize: number;
  readonly retry: RetryPolicy;
}

/**
 * Hands the messages of one partition to the consumer, in order, and removes the finished ones from `held`.
 * Messages never tried go in batches; after a failed batch or a dead consumer each goes alone, so only the failing one can be
 * buried. A message that fails while the holder stops is left to the next consumer, because the stop may be the cause. Answers the back-off in
 * milliseconds when the first of `held` must wait for its next try, undefined otherwise.
 */
export async function deliverInOrder(
  held: HeldMessage[],
  rules: DeliveryRules,
  holder: Holder,
): Promise<number | undefined> {
  const { retry } = rules;
  while (held[0] !== undefined && !holder.stopping()) {
    const head = held[0];
    const burial = head.unreadable ?? exhaustedByDeaths(head, retry);
    if (burial !== undefined) {
      await holder.bury(head, burial);
      held.shift();
      continue;
    }
    const chunk = head.tries > 0 ? [head] : untriedChunk(held, rules.batchSize);
    await holder.recordTry(chunk);
    for (const one of chunk) one.tries += 1;
    const failure = await tryHandle(rules.handle, chunk);
    if (failure === undefined) {
      await holder.acknowledge(chunk);
      held.splice(0, chunk.length);
    } else if (chunk.length === 1 && head.tries >= retry.attempts && !holder.stopping()) {
      await holder.bury(head, failure);
      held.shift();
    } else {
      return backOffMs(head.tries, retry);
    }
  }
  return undefined;
}

/** Exponential: initial, 2 × initial, 4 × initial … up to the maximum. `tries` is 1 after the first failure. */
export function backOffMs(tries: number, retry: RetryPolicy): number {
  return Math.min(retry.maxDelayMs, retry.initialDelayMs * 2 ** (tries - 1));
}

/** Why a message is buried whose consumers ended too often. The first try may have been a whole batch, so one try alone always follows. */
function exhaustedByDeaths(head: HeldMessage, retry: RetryPolicy): string | undefined {
  if (head.tries < Math.max(retry.attempts, retry.deaths, 2)) return undefined;
  return `Its consumer ended ${head.tries} times without an answer.`;
}

function untriedChunk(held: readonly HeldMessage[], batchSize: number): HeldMessage[] {
  const end = held.findIndex((one) => one.tries > 0 || one.unreadable !== undefined);
  return held.slice(0, Math.min(end === -1 ? held.length : end, batchSize));
}

async function tryHandle(handle: DeliveryRules['handle'], chunk: readonly HeldMessage[]): Promise<string | undefined> {
  try {
    await handle(chunk.map(({ message, publishedAt, tries }) => ({ ...message, publishedAt, attempt: tries })));
    return undefined;
  } catch (error) {
    return (
      error instanceof Error ? `${error.name}: ${error.message}` : 'The consumer threw something that is no error.'
    ).slice(0, 500);
  }
}
