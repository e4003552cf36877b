import type { Pool } from '@longwave/postgres';
import { mails } from '../mail/mails.ts';
import type { PostOffice } from '../mail/post-office.ts';
import { endProgramAccess } from '../oauth/end-program-access.ts';
import { recordSecurityEvent } from '../security-events/security-event-table.ts';
import type { SendCommand } from '../send-command.ts';
import { hashPassword } from './password-hash.ts';
import { deleteDevices, savePassword } from './password-table.ts';

export interface ChangePasswordDeps {
  readonly pool: Pool;
  readonly post: PostOffice;
  readonly send: SendCommand;
  readonly clock: () => Date;
}

/**
 * Stores a new password, which ends everything that the old one began: sessions, waiting sign-ins and known browsers. A mail says so.
 * Answers the time of the new password.
 * @param endsPrograms whether programs and tokens for agents lose their access
 */
export const createChangePassword =
  ({ pool, post, send, clock }: ChangePasswordDeps) =>
  async (
    user: { readonly id: string; readonly email: string },
    password: string,
    endsPrograms: boolean,
  ): Promise<Date> => {
    const encoded = await hashPassword(password);
    const passwordSetAt = await savePassword(pool, user.id, encoded, clock());
    await recordSecurityEvent(pool, user.id, 'password_changed', clock());
    post.later(() => post.send(mails.passwordChanged(user.email, post.pageLink('/sign-in/reset'), endsPrograms)));
    if (endsPrograms) await endProgramAccess({ pool, send }, user.id, clock());
    await deleteDevices(pool, user.id);
    return passwordSetAt;
  };

export type ChangePassword = ReturnType<typeof createChangePassword>;
