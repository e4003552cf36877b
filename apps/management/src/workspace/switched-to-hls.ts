import type { EventOf } from '@longwave/command-catalog';
import { findRevision } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';

/** Whether the podcast has HLS from this event on. */
export async function isSwitchedToHls(
  { subject, after }: EventOf<'podcast.created' | 'podcast.revised'>,
  pool: Pool,
): Promise<boolean> {
  if (!after.attributes.hls_audio) return false;
  const before = await findRevision(pool, { id: subject.id, resource_type: 'podcasts' }, subject.version - 1);
  return before?.attributes.hls_audio !== true;
}
