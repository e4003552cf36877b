import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

export interface Script {
  readonly text: string;
  /** SHA-1 (hex) by which Redis remembers it. */
  readonly sha: string;
}

/** A script under the digest that Redis will know it by. */
export const scriptOf = (text: string): Script => ({ text, sha: createHash('sha1').update(text).digest('hex') });

/** Runs a script by its digest; its text is sent only when Redis does not know it (https://redis.io/docs/latest/commands/evalsha/). */
export async function runScript(
  redis: Redis,
  { text, sha }: Script,
  keys: readonly string[],
  values: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(sha, keys.length, ...keys, ...values);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return redis.eval(text, keys.length, ...keys, ...values);
  }
}
