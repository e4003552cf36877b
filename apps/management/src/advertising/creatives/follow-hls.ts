import type { EventOf, Reactions } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { idsOfPages } from '../../background/ids-of-pages.ts';
import type { Send } from '../../background/send-as-management.ts';
import { isSwitchedOn } from '../../workspace/switched-to-hls.ts';
import {
  hasPodcastWithPictures,
  listPicturelessCreatives,
  listTracklessCreatives,
} from './trackless-creative-table.ts';

const pageSize = 100;

/** Starts the tracks of all creatives of the workspace that have none: any of them may be booked for the podcast. */
async function startTracks(event: EventOf<'podcast.created' | 'podcast.revised'>, send: Send, pool: Pool) {
  if (!(await isSwitchedOn(event, ['hls_audio', 'hls_video'], pool))) return;
  const ids = idsOfPages((before) => listTracklessCreatives(pool, event.workspace_id, before, pageSize));
  for await (const id of ids) await send(event, `tracks:${id}`, { type: 'creative.start_tracks', id, changes: {} });
}

/** Starts the pictures of all creatives of the workspace that can have them; others follow when their tracks are there. */
async function startAllPictures(event: EventOf<'podcast.created' | 'podcast.revised'>, send: Send, pool: Pool) {
  if (!(await isSwitchedOn(event, ['hls_video'], pool))) return;
  const ids = idsOfPages((before) => listPicturelessCreatives(pool, event.workspace_id, before, pageSize));
  for await (const id of ids) await send(event, `pictures:${id}`, { type: 'creative.start_pictures', id, changes: {} });
}

/** Starts the pictures of a creative whose sound is ready, where a podcast of its workspace has pictures. */
async function startPictures(
  event: EventOf<'creative.media_recorded' | 'creative.tracks_recorded'>,
  send: Send,
  pool: Pool,
) {
  const { media, pictures } = event.after.attributes;
  if (pictures?.state === 'ready' || pictures?.state === 'encoding' || media.some(({ hls }) => !hls)) return;
  if (!(await hasPodcastWithPictures(pool, event.workspace_id))) return;
  await send(event, 'pictures', { type: 'creative.start_pictures', id: event.subject.id, changes: {} });
}

async function startBoth(event: EventOf<'podcast.created' | 'podcast.revised'>, send: Send, pool: Pool) {
  await startTracks(event, send, pool);
  await startAllPictures(event, send, pool);
}

/** Reactions that start the tracks and pictures of ads once a podcast is switched to HLS, and the pictures of later ads. */
export const adTrackReactions = (send: Send, pool: Pool): Reactions<Promise<void>> => ({
  'podcast.created': (event) => startBoth(event, send, pool),
  'podcast.revised': (event) => startBoth(event, send, pool),
  'creative.media_recorded': (event) => startPictures(event, send, pool),
  'creative.tracks_recorded': (event) => startPictures(event, send, pool),
});
