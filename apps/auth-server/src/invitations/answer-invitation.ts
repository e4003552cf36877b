import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { SendCommand } from '../send-command.ts';
import { listAccountsOf, listAccountsWithEmail } from '../users/user-table.ts';
import { answerCollaboration, type Invitation } from './invitation-table.ts';

interface AnswerDeps {
  readonly pool: Pool;
  readonly send: SendCommand;
}

/** Accepts an invitation for the person to whose address it went. */
export async function acceptInvitation(
  { pool, send }: AnswerDeps,
  { id, workspaceId, email, offer }: Invitation,
  { userId, now }: { readonly userId: string; readonly now: Date },
): Promise<void> {
  const isMembership = 'permissions' in offer;
  const own = isMembership
    ? (await listAccountsOf(pool, userId)).find(({ isOwner }) => isOwner)
    : (await listAccountsWithEmail(pool, userId, email))[0];
  if (!own) throw new Problem('not_found', 'You have no account of your own that could be invited.');
  if (isMembership) await send('membership.accept', workspaceId, id, { member_account_id: own.id });
  else await answerCollaboration(pool, id, own.id, now);
}

/** Declines an invitation. */
export async function declineInvitation(
  { pool, send }: AnswerDeps,
  { id, workspaceId, offer }: Invitation,
  now: Date,
): Promise<void> {
  if ('permissions' in offer) await send('membership.end', workspaceId, id, {});
  else await answerCollaboration(pool, id, undefined, now);
}
