import { setTimeout as wait } from 'node:timers/promises';
import kafkajs from 'kafkajs';

// Node does not see these names in the CommonJS module.
const { KafkaJSConnectionError, KafkaJSError, KafkaJSRequestTimeoutError } = kafkajs;

const maxTries = 100;
const pauseMs = 100;

/**
 * A topic that was just made is still unknown to some brokers: for a moment they answer that they do not host it or that it has no
 * leader. kafkajs calls these errors retriable and leaves the retry to its caller. It says the same of a broker that cannot be reached,
 * for which a scrape that reads a lag must not wait.
 */
const awaitsLeader = (error: unknown): boolean =>
  error instanceof KafkaJSError &&
  error.retriable &&
  !(error instanceof KafkaJSConnectionError || error instanceof KafkaJSRequestTimeoutError);

/** Repeats a request for up to 10 s while it fails because leaders of a topic are not elected. */
export async function untilLeadersElected<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === maxTries || !awaitsLeader(error)) throw error;
      await wait(pauseMs);
    }
  }
}
