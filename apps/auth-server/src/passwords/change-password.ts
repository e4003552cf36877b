import type { Pool } from '@longwave/postgres';
import { mails } from '../mail/mails.ts';
import type { PostOffice } from '../mail/post-office.ts';
import { recordSecurityEvent } from '../security-events/security-event-table.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { hashPassword } from './password-hash.ts';
import { deleteWaitingSignIns } from '../second-factor/waiting-sign-in-table.ts';
import { deleteDevices, savePassword } from './password-table.ts';

export interface ChangePasswordDeps {
  readonly pool: Pool;
  readonly sessions: Sessions;
  readonly post: PostOffice;
  readonly clock: () => Date;
}

/** Stores a new password and ends everything that the old one began: sessions, waiting sign-ins and known browsers. A mail says so. */
export const createChangePassword =
  ({ pool, sessions, post, clock }: ChangePasswordDeps) =>
  async (user: { readonly id: string; readonly email: string }, password: string): Promise<void> => {
    const encoded = await hashPassword(password);
    await savePassword(pool, user.id, encoded, clock());
    await deleteDevices(pool, user.id);
    await deleteWaitingSignIns(pool, user.id);
    await sessions.endAll(user.id);
    await recordSecurityEvent(pool, user.id, 'password_changed', clock());
    post.later(() => post.send(mails.passwordChanged(user.email, post.pageLink('/sign-in/reset'))));
  };

export type ChangePassword = ReturnType<typeof createChangePassword>;
