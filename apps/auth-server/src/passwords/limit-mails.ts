import { Problem } from '@longwave/problems';
import type { AttemptLimit } from './attempt-limit.ts';

const hour = 3_600;

/** Whether one more mail may go to an address. Throws when this sender asks for too many, whatever the addresses are. */
export type LimitMails = (email: string, sender: string) => Promise<boolean>;

/** Who has an address gets a few mails an hour at most, and every one of them leads in: nobody can use them up for somebody else. */
export const createLimitMails =
  (limit: AttemptLimit): LimitMails =>
  async (email, sender) => {
    const waitSeconds = await limit.count([{ of: ['mail-sender', sender], max: 20, seconds: hour }]);
    if (waitSeconds > 0) {
      const detail = 'Too many mails were asked for from here. Try again later.';
      throw new Problem('rate_limited', detail, { retryAfterSeconds: waitSeconds });
    }
    return (await limit.count([{ of: ['mail', email], max: 5, seconds: hour }])) === 0;
  };
