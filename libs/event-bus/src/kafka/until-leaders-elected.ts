import { setTimeout as wait } from 'node:timers/promises';

const maxTries = 100;
const pauseMs = 100;

/**
 * Repeats a request while a topic that was just made is still unknown to some brokers: for a moment they answer that they do not host
 * it or that it has no leader. kafkajs calls these errors retriable and leaves the retry to its caller.
 */
export async function untilLeadersElected<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === maxTries || !(error as { retriable?: boolean }).retriable) throw error;
      await wait(pauseMs);
    }
  }
}
