import { Problem } from '@longwave/problems';
import type { AttemptLimit } from '../passwords/attempt-limit.ts';

/** Throws when a sender makes too many authorization requests: every one of them leaves a row for ten minutes. */
export type LimitRequests = (sender: string) => Promise<void>;

export const createLimitRequests =
  (limit: AttemptLimit): LimitRequests =>
  async (sender) => {
    const waitSeconds = await limit.count([{ of: ['authorize', sender], max: 60, seconds: 60 }]);
    if (waitSeconds === 0) return;
    const detail = 'Too many requests for access came from here. Try again in a minute.';
    throw new Problem('rate_limited', detail, { retryAfterSeconds: waitSeconds });
  };
