import type { EventOf, Reactions } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import type { Send } from '../../background/send-as-management.ts';
import { isSwitchedToHls } from '../../workspace/switched-to-hls.ts';
import { listTracklessCreatives } from './trackless-creative-table.ts';

const pageSize = 100;

/** Starts the tracks of all creatives of the workspace that have none: any of them may be booked for the podcast. */
async function startTracks(event: EventOf<'podcast.created' | 'podcast.revised'>, send: Send, pool: Pool) {
  if (!(await isSwitchedToHls(event, pool))) return;
  let last: string | undefined;
  do {
    const page = await listTracklessCreatives(pool, event.workspace_id, last, pageSize);
    for (const id of page) await send(event, `tracks:${id}`, { type: 'creative.start_tracks', id, changes: {} });
    last = page.at(-1);
  } while (last !== undefined);
}

/** What makes ads ready for a podcast that has been switched to HLS. */
export const adTrackReactions = (send: Send, pool: Pool): Reactions<Promise<void>> => ({
  'podcast.created': (event) => startTracks(event, send, pool),
  'podcast.revised': (event) => startTracks(event, send, pool),
});
