import type { EventOf, Reactions } from '@longwave/command-catalog';
import { findResource } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { idsOfPages } from '../../background/ids-of-pages.ts';
import type { Send } from '../../background/send-as-management.ts';
import { isSwitchedToHls } from '../../workspace/switched-to-hls.ts';
import { listMissingTracks } from './missing-track-table.ts';

/** A group of its own: a podcast with thousands of episodes delays no other reaction. */
export const trackFollowerGroup = 'management.tracks';

const pageSize = 100;

/** Starts the sound for HLS of one production, if its podcast wants it and it is missing. */
async function startTrack(
  event: Pick<DomainEvent, 'id' | 'workspace_id'>,
  { episodeId, productionId }: { readonly episodeId: string; readonly productionId: string },
  send: Send,
  pool: Pool,
): Promise<void> {
  const { workspace_id: workspaceId } = event;
  const episode = await findResource(pool, workspaceId, 'episodes', episodeId);
  const podcast = episode && (await findResource(pool, workspaceId, 'podcasts', episode.attributes.podcast_id));
  if (!podcast?.attributes.hls_audio) return;
  const production = await findResource(pool, workspaceId, 'productions', productionId);
  const { state = 'failed' } = production?.attributes.tracks?.a192 ?? {};
  if (production?.lifecycle_state !== 'encoded' || state !== 'failed') return;
  await send(event, 'track', { type: 'production.start_track', id: productionId, changes: { track: 'a192' } });
}

/** Starts it for what an episode plays now: it may be older audio, as after a batch encoding was reverted. */
async function startPlayed(
  event: EventOf<'episode.production_attached' | 'episode.template_applied'>,
  send: Send,
  pool: Pool,
): Promise<void> {
  const { current_production_id: productionId } = event.after.attributes;
  if (productionId) await startTrack(event, { episodeId: event.subject.id, productionId }, send, pool);
}

/** Starts the sound for HLS of the parts and of every episode of a podcast that has just been switched on, where it is missing. */
async function startTracks(event: EventOf<'podcast.revised'>, send: Send, pool: Pool): Promise<void> {
  const { workspace_id: workspaceId, subject, after } = event;
  if (!(await isSwitchedToHls(event, pool))) return;
  for (const part of ['intro', 'outro'] as const) {
    const { state, segment } = after.attributes[part] ?? {};
    if (state === 'ready' && segment && !segment.hls)
      await send(event, part, { type: `podcast.start_${part}_track`, id: subject.id, changes: {} });
  }
  const podcast = { workspaceId, podcastId: subject.id };
  const ids = idsOfPages((before) => listMissingTracks(pool, podcast, before, pageSize));
  for await (const id of ids)
    await send(event, `track:${id}`, { type: 'production.start_track', id, changes: { track: 'a192' } });
}

/** Reactions that start the tracks of a podcast with HLS. */
export const trackReactions = (send: Send, pool: Pool): Reactions<Promise<void>> => ({
  'production.encoded': (event) => {
    const { subject, after } = event;
    return startTrack(event, { productionId: subject.id, episodeId: after.attributes.episode_id }, send, pool);
  },
  'episode.production_attached': (event) => startPlayed(event, send, pool),
  'episode.template_applied': (event) => startPlayed(event, send, pool),
  'podcast.revised': (event) => startTracks(event, send, pool),
});
