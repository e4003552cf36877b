import type { Pool } from '@longwave/postgres';
import { listPersonalTokens } from '../credentials/credential-list-table.ts';
import { revokeCredential } from '../credentials/revoke-credential.ts';
import { recordSecurityEvent } from '../security-events/security-event-table.ts';
import type { SendCommand } from '../send-command.ts';
import { revokeGrantsOf } from './grant-table.ts';

/** Ends the access of every program that a person has allowed, and the keys and tokens that stand for the person. */
export async function endProgramAccess(
  { pool, send }: { readonly pool: Pool; readonly send: SendCommand },
  userId: string,
  now: Date,
): Promise<void> {
  await recordSecurityEvent(pool, userId, 'programs_ended', now);
  await revokeGrantsOf(pool, userId);
  for (const { id, workspace_id: workspaceId } of await listPersonalTokens(pool, userId))
    await revokeCredential(send, workspaceId, id);
}
