import type { EventOf, Reactions } from '@longwave/command-catalog';
import { findResource } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { idsOfPages } from '../../background/ids-of-pages.ts';
import type { Send } from '../../background/send-as-management.ts';
import { isSwitchedOn, type HlsSetting } from '../../workspace/switched-to-hls.ts';
import type { Podcast } from '../podcasts/podcast.ts';
import { listMissingTracks } from './missing-track-table.ts';
import { missingTracks, trackNames } from './missing-tracks.ts';

/** A group of its own: a podcast with thousands of episodes delays no other reaction. */
export const trackFollowerGroup = 'management.tracks';

const pageSize = 100;

/** Starts the tracks of HLS of one production that its podcast wants and that can be made now. */
async function startTracks(
  event: Pick<DomainEvent, 'id' | 'workspace_id'>,
  { episodeId, productionId }: { readonly episodeId: string; readonly productionId: string },
  send: Send,
  pool: Pool,
  retry = true,
): Promise<void> {
  const { workspace_id: workspaceId } = event;
  const episode = await findResource(pool, workspaceId, 'episodes', episodeId);
  const podcast = episode && (await findResource(pool, workspaceId, 'podcasts', episode.attributes.podcast_id));
  if (podcast) await startMissing(event, podcast.attributes, productionId, send, pool, retry);
}

/** As `startTracks`, for a production of the podcast. */
async function startMissing(
  event: Pick<DomainEvent, 'id' | 'workspace_id'>,
  podcast: Pick<Podcast, HlsSetting>,
  productionId: string,
  send: Send,
  pool: Pool,
  retry: boolean,
): Promise<void> {
  if (!podcast.hls_audio && !podcast.hls_video) return;
  const production = await findResource(pool, event.workspace_id, 'productions', productionId);
  if (production?.lifecycle_state !== 'encoded') return;
  for (const track of missingTracks(podcast, production.attributes, { retry }))
    await send(event, `track:${productionId}:${track}`, {
      type: 'production.start_track',
      id: productionId,
      changes: { track },
    });
}

/** Starts them for what an episode plays now: it may be older audio, as after a batch encoding was reverted. */
async function startPlayed(
  event: EventOf<'episode.production_attached' | 'episode.template_applied'>,
  send: Send,
  pool: Pool,
): Promise<void> {
  const { current_production_id: productionId } = event.after.attributes;
  if (productionId) await startTracks(event, { episodeId: event.subject.id, productionId }, send, pool);
}

/** Starts the missing tracks of the parts and of every episode of a podcast that has just been switched on. */
async function startAll(event: EventOf<'podcast.revised'>, send: Send, pool: Pool): Promise<void> {
  const { workspace_id: workspaceId, subject, after } = event;
  if (!(await isSwitchedOn(event, ['hls_audio', 'hls_video'], pool))) return;
  for (const part of after.attributes.hls_audio ? (['intro', 'outro'] as const) : []) {
    const { state, segment } = after.attributes[part] ?? {};
    if (state === 'ready' && segment && !segment.hls)
      await send(event, part, { type: `podcast.start_${part}_track`, id: subject.id, changes: {} });
  }
  const podcast = { workspaceId, podcastId: subject.id };
  const tracks = after.attributes.hls_video ? trackNames : (['a192'] as const);
  const ids = idsOfPages((before) => listMissingTracks(pool, podcast, tracks, before, pageSize));
  for await (const id of ids) await startMissing(event, after.attributes, id, send, pool, true);
}

/** Reactions that start the tracks of a podcast with HLS. */
export const trackReactions = (send: Send, pool: Pool): Reactions<Promise<void>> => ({
  'production.encoded': (event) => {
    const { subject, after } = event;
    return startTracks(event, { productionId: subject.id, episodeId: after.attributes.episode_id }, send, pool);
  },
  'episode.production_attached': (event) => startPlayed(event, send, pool),
  'episode.template_applied': (event) => startPlayed(event, send, pool),
  'podcast.revised': (event) => startAll(event, send, pool),
  // Pictures follow the sound, and the smaller ones the others. What failed is not tried again, unless its sound is another one.
  'production.track_recorded': (event) => {
    const { subject, after } = event;
    const ids = { productionId: subject.id, episodeId: after.attributes.episode_id };
    return startTracks(event, ids, send, pool, false);
  },
});
