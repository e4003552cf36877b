import type { EventOf, Reactions } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { idsOfPages } from '../../background/ids-of-pages.ts';
import type { Send } from '../../background/send-as-management.ts';
import { isSwitchedOn } from '../../workspace/switched-to-hls.ts';
import { listTracklessCreatives } from './trackless-creative-table.ts';

const pageSize = 100;

/** Starts the tracks of all creatives of the workspace that have none: any of them may be booked for the podcast. */
async function startTracks(event: EventOf<'podcast.created' | 'podcast.revised'>, send: Send, pool: Pool) {
  if (!(await isSwitchedOn(event, ['hls_audio', 'hls_video'], pool))) return;
  const ids = idsOfPages((before) => listTracklessCreatives(pool, event.workspace_id, before, pageSize));
  for await (const id of ids) await send(event, `tracks:${id}`, { type: 'creative.start_tracks', id, changes: {} });
}

/** Reactions that start the tracks of ads once a podcast is switched to HLS. */
export const adTrackReactions = (send: Send, pool: Pool): Reactions<Promise<void>> => ({
  'podcast.created': (event) => startTracks(event, send, pool),
  'podcast.revised': (event) => startTracks(event, send, pool),
});
