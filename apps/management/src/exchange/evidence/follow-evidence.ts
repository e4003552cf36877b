import type { EventOf } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import type { Send } from '../../background/send-as-management.ts';
import { listStandingRevisions } from './evidence-table.ts';

/** Supersedes the revisions of a report that its newest one replaces, in whatever order they came. */
export async function supersedeEvidence(
  event: EventOf<'platform_evidence.accepted'>,
  send: Send,
  pool: Pool,
): Promise<void> {
  const [newest, ...others] = await listStandingRevisions(pool, event.workspace_id, event.after.attributes);
  for (const id of others)
    await send(event, id, { type: 'platform_evidence.supersede', id, changes: { successor_id: newest! } });
}
