import type { EventOf } from '@longwave/command-catalog';
import { listLinked } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { Send } from '../../background/send-as-management.ts';

/** Revokes the machine keys of an authority grant that has ended. */
export async function revokeKeys(
  event: EventOf<'authority_grant.revoked' | 'authority_grant.expired'>,
  send: Send,
  pool: Pool,
): Promise<void> {
  const changes = { cause: 'The authority grant of the key has ended.' };
  for (const { id } of await listLinked(pool, event.workspace_id, 'machine_keys', 'authority', event.subject.id))
    await send(event, id, { type: 'machine_key.revoke', id, changes });
}
