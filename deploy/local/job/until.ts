import { setTimeout as wait } from 'node:timers/promises';

/** Asks again until the answer is there; throws naming what did not happen in time. */
export async function until<T>(what: string, timeoutMs: number, ask: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > end) throw new Error(`${what} did not happen within ${Math.round(timeoutMs / 1000)} s`);
    await wait(100);
  }
}
