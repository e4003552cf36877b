import { createHash, randomBytes } from 'node:crypto';
import { jcsDigest } from '@longwave/idempotency';
import { Problem } from '@longwave/problems';
import type { Redis, Result } from 'ioredis';

/** The call that a person confirms. */
export interface Confirmed {
  /** The grant of the token that asked for the preview. */
  readonly grant: string;
  readonly tool: string;
  /** The arguments, without the token and the idempotency key. */
  readonly args: object;
}

/** Handles of previews: one lets the previewed call happen, once. */
export interface Confirmations {
  issue(call: Confirmed): Promise<{ readonly token: string; readonly expiresAt: Date }>;
  /**
   * Uses a handle, and answers the idempotency key of the call. A retry with the same key may use it again, since it has no further effect.
   * Throws `policy_rejected` for a handle that has expired, was used, or belongs to another grant, tool or arguments.
   */
  redeem(token: string, call: Confirmed, idempotencyKey: string | undefined): Promise<string>;
}

const lifeMs = 600_000;

/** One step: the value of an unused handle becomes the key of its first use. */
const redeemScript = `local bound = redis.call('HGET', KEYS[1], 'bound')
if bound ~= ARGV[1] then return 0 end
redis.call('HSETNX', KEYS[1], 'used_by', ARGV[2])
if redis.call('HGET', KEYS[1], 'used_by') == ARGV[2] then return 1 end
return 0`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    redeemConfirmation(key: string, bound: string, usedBy: string): Result<number, Context>;
  }
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');
const boundTo = ({ grant, tool, args }: Confirmed) => digestOf(`${grant}\0${tool}\0${jcsDigest(args)}`);
const keyOf = (token: string) => `confirm:${digestOf(token)}`;

const unavailable = (cause: unknown) =>
  new Problem('temporarily_unavailable', 'Confirmations are not available now. Try again.', {
    cause,
    retryAfterSeconds: 2,
  });

/** Keeps handles in Redis, by their digest, for ten minutes. */
export function createConfirmations(redis: Redis, clock: () => Date): Confirmations {
  redis.defineCommand('redeemConfirmation', { numberOfKeys: 1, lua: redeemScript });
  return {
    issue: async (call) => {
      const token = `cfm_${randomBytes(24).toString('base64url')}`;
      const key = keyOf(token);
      await redis
        .multi()
        .hset(key, 'bound', boundTo(call))
        .pexpire(key, lifeMs)
        .exec()
        .catch((cause: unknown) => {
          throw unavailable(cause);
        });
      return { token, expiresAt: new Date(clock().getTime() + lifeMs) };
    },
    redeem: async (token, call, idempotencyKey) => {
      const key = idempotencyKey ?? `confirmed-${digestOf(token).slice(0, 32)}`;
      const redeemed = await redis.redeemConfirmation(keyOf(token), boundTo(call), key).catch((cause: unknown) => {
        throw unavailable(cause);
      });
      if (redeemed !== 1)
        throw new Problem(
          'policy_rejected',
          'This confirm_token has expired, was used, or belongs to another call. Ask for a new preview: call without confirm_token.',
        );
      return key;
    },
  };
}
