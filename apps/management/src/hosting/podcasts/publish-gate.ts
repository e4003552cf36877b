import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from '@longwave/postgres';
import type { ObjectStore } from '@longwave/object-store';
import type { FieldError } from '@longwave/problems';
import { findResource } from '@longwave/command-pipeline';
import { listNewestPublished } from '../episodes/episode-table.ts';
import { hasAudio, isPlayable } from '../episodes/require-audio.ts';
import type { Episode } from '../episodes/episode.ts';
import type { PublicFetch } from '../../outside/public-fetch.ts';
import { checkArtwork, type Finding } from './check-artwork.ts';
import type { Podcast } from './podcast.ts';

/** Finds the faults, beside missing attributes, for which directories refuse a podcast. */
export type FindFaults = (workspaceId: string, podcastId: string, podcast: Podcast) => Promise<FieldError[]>;

/** Episodes that are checked: directories read the newest ones first. */
const maxEpisodes = 3;

/** Public Delivery learns of new artwork by an event: for so long after a change it may not serve the artwork yet. */
const artworkPatienceMs = 3000;
const artworkPauseMs = 100;

const extensions = { 'image/jpeg': 'jpg', 'image/png': 'png', 'image/webp': 'webp' };

/** The address of the largest rendition that directories take (docs/services/public-delivery.md), else the artwork's own. */
function publicArtworkUrl(
  { artwork, artwork_url: url }: Pick<Podcast, 'artwork' | 'artwork_url'>,
  mediaUrl: string,
): string | undefined {
  const [largest] = (artwork?.renditions ?? [])
    .filter(({ size, content_type: type }) => size <= 3000 && type !== 'image/webp')
    .toSorted((a, b) => b.size - a.size);
  if (!largest) return url;
  return `${mediaUrl}/delivery/v1/i/${largest.sha256}/${largest.size}.${extensions[largest.content_type]}`;
}

/** Checks before `podcast.publish` what Apple checks after it. */
export function createPublishGate(options: {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly mediaUrl: string;
  readonly publicFetch: PublicFetch;
}): FindFaults {
  const { pool, store, mediaUrl, publicFetch } = options;

  async function canBePlayed(workspaceId: string, episodeId: string, episode: Episode): Promise<boolean> {
    const { current_production_id: productionId } = episode;
    if (productionId === undefined) return hasAudio(pool, workspaceId, episodeId, episode);
    const row = await findResource(pool, workspaceId, 'productions', productionId);
    const key = row?.attributes.files.find(({ role }) => role === 'rendition')?.storage_key;
    if (isPlayable(row) && key !== undefined && (await store.find(key))) return true;
    return hasAudio(pool, workspaceId, episodeId, { ...episode, current_production_id: undefined });
  }

  async function artworkFindings(url: string): Promise<Finding[]> {
    for (let left = artworkPatienceMs; left > 0 && url.startsWith(mediaUrl); left -= artworkPauseMs) {
      if ((await publicFetch(url, { method: 'HEAD' })).status !== 404) break;
      await wait(artworkPauseMs);
    }
    return checkArtwork(publicFetch, url);
  }

  return async (workspaceId, podcastId, podcast) => {
    const errors: FieldError[] = [];
    const artwork = publicArtworkUrl(podcast, mediaUrl);
    if (artwork !== undefined)
      for (const { code, text } of await artworkFindings(artwork))
        errors.push({ path: '/attributes/artwork_url', code, detail: text });
    for (const { id, attributes: episode } of await listNewestPublished(pool, workspaceId, podcastId, maxEpisodes)) {
      if (!(await canBePlayed(workspaceId, id, episode)))
        errors.push({
          path: `/episodes/${id}`,
          code: 'episode_has_no_audio',
          detail: `The published episode “${episode.title}” has no audio.`,
        });
    }
    return errors;
  };
}
