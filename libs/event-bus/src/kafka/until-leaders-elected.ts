import { setTimeout as wait } from 'node:timers/promises';

const triesMax = 100;
const pauseMs = 100;

/**
 * Asks again while the brokers are still spreading the news of a topic that was just made: for a moment they say that they do
 * not host it or that it has no leader. kafkajs calls these errors retriable and leaves the retry to its caller.
 */
export async function untilLeadersElected<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === triesMax || !(error as { retriable?: boolean }).retriable) throw error;
      await wait(pauseMs);
    }
  }
}
