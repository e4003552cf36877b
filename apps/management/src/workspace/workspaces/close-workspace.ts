import type { EventOf } from '@longwave/command-catalog';
import { listInStates } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { Send } from '../../background/send-as-management.ts';

/**
 * Ends what a closing workspace must not leave behind, then closes it: authority grants and machine keys are revoked, podcasts archived. The
 * states of advertising stay as they are, because nothing of a suspended workspace serves.
 */
export async function closeWorkspace(
  event: EventOf<'workspace.close_requested'>,
  send: Send,
  pool: Pool,
): Promise<void> {
  const { workspace_id: workspaceId, subject } = event;
  const cause = 'The workspace was closed.';
  for (const { id } of await listInStates(pool, workspaceId, 'authority_grants', ['proposed', 'active']))
    await send(event, id, { type: 'authority_grant.revoke', id, changes: { cause } });
  for (const { id } of await listInStates(pool, workspaceId, 'machine_keys', ['pending', 'active', 'retiring']))
    await send(event, id, { type: 'machine_key.revoke', id, changes: { cause } });
  for (const { id } of await listInStates(pool, workspaceId, 'podcasts', ['draft', 'published', 'unpublished']))
    await send(event, id, { type: 'podcast.archive', id, changes: {} });
  await send(event, 'complete', { type: 'workspace.complete_close', id: subject.id, changes: {} });
}
