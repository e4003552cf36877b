import { createHash } from 'node:crypto';
import { Problem } from '@longwave/problems';
import type { Redis, Result } from 'ioredis';

/** Counts in turn and stops at the first limit that is passed: what a narrow limit refuses does not use up a wide one. */
const countScript = `for i, key in ipairs(KEYS) do
  local count = redis.call('INCR', key)
  if redis.call('TTL', key) < 0 then redis.call('EXPIRE', key, ARGV[2 * i]) end
  if count > tonumber(ARGV[2 * i - 1]) then return redis.call('TTL', key) end
end
return 0`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    countAttempt(keys: number, ...keysAndLimits: (string | number)[]): Result<number, Context>;
  }
}

/** How many attempts something may make in a time. */
export interface Limit {
  /** What is counted, and whose attempts these are. Redis holds a digest of it. */
  readonly of: readonly string[];
  readonly max: number;
  readonly seconds: number;
}

export interface AttemptLimit {
  /** Counts an attempt; answers the seconds to wait when it is one too many, else 0. Throws while Redis is away. */
  readonly count: (limits: readonly Limit[]) => Promise<number>;
  /** Counts an attempt. Throws `rate_limited` with the sentence when it is one too many, and the same as `count`. */
  readonly require: (limits: readonly Limit[], sentence: string) => Promise<void>;
  /** Forgets the attempts, as after a success. */
  readonly forget: (limits: readonly Limit[]) => Promise<void>;
}

const keyOf = ({ of }: Limit) =>
  `attempts:${of[0]}:${createHash('sha256').update(of.join('\n')).digest('base64url').slice(0, 22)}`;

/** Counts attempts in Redis, for all processes together. Nobody tries a password uncounted: without Redis every attempt is refused. */
export function createAttemptLimit(redis: Redis): AttemptLimit {
  redis.defineCommand('countAttempt', { lua: countScript });
  const count = async (limits: readonly Limit[]): Promise<number> => {
    try {
      const bounds = limits.flatMap(({ max, seconds }) => [max, seconds]);
      return await redis.countAttempt(limits.length, ...limits.map(keyOf), ...bounds);
    } catch (cause) {
      const detail = 'This is not possible for a moment. Try again soon.';
      throw new Problem('temporarily_unavailable', detail, { cause, retryAfterSeconds: 5 });
    }
  };
  return {
    count,
    require: async (limits, sentence) => {
      const waitSeconds = await count(limits);
      if (waitSeconds > 0) throw new Problem('rate_limited', sentence, { retryAfterSeconds: waitSeconds });
    },
    forget: async (limits) => {
      await redis.del(limits.map(keyOf)).catch(() => undefined);
    },
  };
}
