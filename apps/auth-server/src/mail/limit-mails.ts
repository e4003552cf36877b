import type { Invitation } from '../invitations/invitation-table.ts';
import type { AttemptLimit } from '../passwords/attempt-limit.ts';
import type { MailPurpose } from './mail-token-table.ts';

const hour = 3_600;
const day = 86_400;

/** Bounds on the mails that people ask for. */
export interface LimitMails {
  /** Counts a request for a mail. Throws when this sender asks for too many, whatever the addresses are. */
  readonly countRequest: (sender: string) => Promise<void>;
  /** Counts a mail that is due. Answers whether it may go. */
  readonly mayGo: (purpose: MailPurpose, email: string) => Promise<boolean>;
  /** Counts the mail of an invitation for the account that invites, and for the address. Answers whether it may go. */
  readonly mayInvite: (invitation: Pick<Invitation, 'accountId' | 'email'>) => Promise<boolean>;
}

/**
 * An address gets a few mails of each purpose an hour, and only those that go are counted: requests for one purpose, or for mails that
 * nobody gets, use up no other. While the mails of signing up or of a new password are used up, each of those that came leads in.
 */
export const createLimitMails = (limit: AttemptLimit): LimitMails => ({
  countRequest: (sender) =>
    limit.require(
      [{ of: ['mail-sender', sender], max: 20, seconds: hour }],
      'Too many mails were asked for from here. Try again later.',
    ),
  mayGo: async (purpose, email) => (await limit.count([{ of: ['mail', purpose, email], max: 5, seconds: hour }])) === 0,
  mayInvite: async ({ accountId, email }) => {
    const waitSeconds = await limit.count([
      { of: ['inviter', accountId], max: 50, seconds: day },
      { of: ['mail', 'invitation', email], max: 5, seconds: hour },
    ]);
    return waitSeconds === 0;
  },
});
