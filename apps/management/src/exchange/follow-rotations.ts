import type { EventOf } from '@longwave/command-catalog';
import { findResource } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { Send } from '../background/send-as-management.ts';

/** The shortest overlap: the end of one that has passed on the way here is put off by so much. */
const leastOverlapMs = 1_000;

/**
 * Retires the key in whose place a platform has put another, if it is active. What became of the successor since does not matter: an
 * accepted rotation leaves no key active that it retires.
 */
export async function retireFormerKey(
  event: EventOf<'authority_grant.rotated'>,
  { send, pool, clock }: { readonly send: Send; readonly pool: Pool; readonly clock: () => Date },
): Promise<void> {
  const { rotation } = event.after.attributes;
  if (!rotation) return;
  const { retired_key_id: id, successor_key_id: successorId, overlap_until: overlap } = rotation;
  const key = await findResource(pool, event.workspace_id, 'machine_keys', id);
  if (key?.lifecycle_state !== 'active') return;
  const [now, over] = [clock().getTime(), Date.parse(key.attributes.not_after)];
  // The clock ends it.
  if (over <= now) return;
  const until = new Date(Math.min(Math.max(Date.parse(overlap), now + leastOverlapMs), over));
  await send(event, 'retire', {
    type: 'machine_key.retire',
    id,
    changes: { successor_id: successorId, overlap_until: until.toISOString() },
  });
}
