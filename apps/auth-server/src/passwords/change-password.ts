import type { Pool } from '@longwave/postgres';
import { mails } from '../mail/mails.ts';
import type { PostOffice } from '../mail/post-office.ts';
import { recordSecurityEvent } from '../security-events/security-event-table.ts';
import { hashPassword } from './password-hash.ts';
import { deleteDevices, savePassword } from './password-table.ts';

export interface ChangePasswordDeps {
  readonly pool: Pool;
  readonly post: PostOffice;
  readonly clock: () => Date;
}

/**
 * Stores a new password, which ends everything that the old one began: sessions, waiting sign-ins and known browsers. A mail says so.
 * Answers the time of the new password.
 */
export const createChangePassword =
  ({ pool, post, clock }: ChangePasswordDeps) =>
  async (user: { readonly id: string; readonly email: string }, password: string): Promise<Date> => {
    const encoded = await hashPassword(password);
    const passwordSetAt = await savePassword(pool, user.id, encoded, clock());
    await recordSecurityEvent(pool, user.id, 'password_changed', clock());
    post.later(() => post.send(mails.passwordChanged(user.email, post.pageLink('/sign-in/reset'))));
    await deleteDevices(pool, user.id);
    return passwordSetAt;
  };

export type ChangePassword = ReturnType<typeof createChangePassword>;
