import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { pollLoop, type PollLoop } from '@longwave/worker-kit';
import type { LimitMails } from '../mail/limit-mails.ts';
import { mails } from '../mail/mails.ts';
import type { PostOffice } from '../mail/post-office.ts';
import {
  claimInvitationMail,
  listUnsentInvitations,
  releaseInvitationMail,
  withholdInvitationMail,
} from './invitation-table.ts';

/** Whether the mail server will never take a mail for the address: it refused the recipient for good (RFC 5321 §4.2.1). */
function isRefused(error: unknown): boolean {
  const { command, responseCode = 0 } = error as { readonly command?: string; readonly responseCode?: number };
  return command === 'RCPT TO' && responseCode >= 500;
}

/**
 * Mails every invitation once, wherever it was made: on a page, by REST or by an agent. A mail that fails is tried again; one too many, and
 * one that the server refuses for good, is never sent.
 */
export function sendInvitations(deps: {
  readonly pool: Pool;
  readonly post: PostOffice;
  readonly limitMails: LimitMails;
  readonly clock: () => Date;
  readonly logger: Logger;
}): PollLoop {
  const { pool, post, limitMails, clock, logger } = deps;
  return pollLoop({
    run: async (signal) => {
      for (const invitation of await listUnsentInvitations(pool)) {
        const { id } = invitation;
        if (signal.aborted || !(await claimInvitationMail(pool, id, clock()))) continue;
        try {
          if (await limitMails.mayInvite(invitation))
            await post.send(mails.invitation(invitation, post.pageLink('/settings/members')));
          else await withholdInvitationMail(pool, id);
        } catch (error) {
          if (!isRefused(error)) {
            await releaseInvitationMail(pool, id);
            throw error;
          }
          await withholdInvitationMail(pool, id);
        }
      }
    },
    everyMs: 60_000,
    onError: (error) => logger.warn({ reason: (error as { code?: string }).code ?? 'unknown' }, 'invitation.unsent'),
  });
}
