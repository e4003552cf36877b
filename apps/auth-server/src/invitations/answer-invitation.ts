import type { Pool } from '@longwave/postgres';
import type { Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { AnswerGrant } from '../grants/answer-grant.ts';
import type { SendCommand } from '../send-command.ts';
import { listAccountsOf, listAccountsWithEmail } from '../users/user-table.ts';
import { answerCollaboration, type Invitation } from './invitation-table.ts';

export interface AnswerDeps {
  readonly pool: Pool;
  readonly send: SendCommand;
  readonly answerGrant: AnswerGrant;
}

interface Answerer {
  readonly userId: string;
  readonly principal: Principal;
  readonly now: Date;
}

/** Accepts an invitation for the person to whose address it went. */
export async function acceptInvitation(
  { pool, send, answerGrant }: AnswerDeps,
  { id, workspaceId, email, offer }: Invitation,
  { userId, principal, now }: Answerer,
): Promise<void> {
  if ('grant' in offer)
    return answerGrant({ id, workspaceId, version: offer.grant.version, isAccepted: true }, principal);
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
  { pool, send, answerGrant }: AnswerDeps,
  { id, workspaceId, offer }: Invitation,
  { principal, now }: Omit<Answerer, 'userId'>,
): Promise<void> {
  if ('grant' in offer)
    await answerGrant({ id, workspaceId, version: offer.grant.version, isAccepted: false }, principal);
  else if ('permissions' in offer) await send('membership.end', workspaceId, id, {});
  else await answerCollaboration(pool, id, undefined, now);
}
