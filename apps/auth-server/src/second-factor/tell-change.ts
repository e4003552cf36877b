import type { Pool } from '@longwave/postgres';
import { secondFactorMails } from '../mail/mails.ts';
import type { PostOffice } from '../mail/post-office.ts';
import { recordSecurityEvent } from '../security-events/security-event-table.ts';

export interface TellChangeDeps {
  readonly pool: Pool;
  readonly post: PostOffice;
  readonly clock: () => Date;
}

/** Tells a person of a change of the second factor: on the page of security and by mail. */
export const createTellChange =
  ({ pool, post, clock }: TellChangeDeps) =>
  async (
    user: { readonly id: string; readonly email: string },
    kind: keyof typeof secondFactorMails,
  ): Promise<void> => {
    await recordSecurityEvent(pool, user.id, kind, clock());
    post.later(() => post.send(secondFactorMails[kind](user.email, post.pageLink('/sign-in/reset'))));
  };

export type TellChange = ReturnType<typeof createTellChange>;
