import type { Pool } from '@longwave/postgres';
import { secondFactorMails } from '../mail/mails.ts';
import type { PostOffice } from '../mail/post-office.ts';
import { recordSecurityEvent } from '../security-events/security-event-table.ts';

export interface TellSecondFactorEventDeps {
  readonly pool: Pool;
  readonly post: PostOffice;
  readonly clock: () => Date;
}

/** Tells a person of an event of the second factor: on the page of security and by mail. */
export const createTellSecondFactorEvent =
  ({ pool, post, clock }: TellSecondFactorEventDeps) =>
  async (
    user: { readonly id: string; readonly email: string },
    kind: keyof typeof secondFactorMails,
  ): Promise<void> => {
    await recordSecurityEvent(pool, user.id, kind, clock());
    post.later(() => post.send(secondFactorMails[kind](user.email, post.pageLink('/sign-in/reset'))));
  };

export type TellSecondFactorEvent = ReturnType<typeof createTellSecondFactorEvent>;
