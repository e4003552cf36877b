import type { EventOf } from '@longwave/command-catalog';
import { findRevision } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';

/** Settings that give episodes HLS: with their sound alone, or with their picture. */
export type HlsSetting = 'hls_audio' | 'hls_video';

/** Whether the podcast has one of the settings from this event on. */
export async function isSwitchedOn(
  { subject, after }: EventOf<'podcast.created' | 'podcast.revised'>,
  settings: readonly HlsSetting[],
  pool: Pool,
): Promise<boolean> {
  const on = settings.filter((setting) => after.attributes[setting]);
  if (on.length === 0) return false;
  const before = await findRevision(pool, { id: subject.id, resource_type: 'podcasts' }, subject.version - 1);
  return on.some((setting) => before?.attributes[setting] !== true);
}
