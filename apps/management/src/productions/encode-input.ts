import { findResource } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import type { SourcePlace } from './production-source.ts';
import type { Production } from './production.ts';

/** The last part of an address's path, as a file name. */
function filenameOf(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1)!;
  try {
    return decodeURIComponent(last) || 'audio';
  } catch {
    return last;
  }
}

/** What the encoder needs to know of a production: the input of its job. */
export async function encodeInput(
  tx: Transaction,
  workspaceId: string,
  productionId: string,
  production: Production,
  place: SourcePlace,
): Promise<unknown> {
  const episode = await findResource(tx, workspaceId, 'episodes', production.episode_id);
  const podcast = await findResource(tx, workspaceId, 'podcasts', String(episode?.attributes['podcast_id']));
  const source =
    place.kind === 'outside'
      ? { source_url: place.url, filename: filenameOf(place.url), declared_size_bytes: null }
      : {
          storage_key: place.found.upload.storage_key,
          /** What was probed and reserved for; an encoder refuses other bytes under the same key. */
          source_etag: place.found.etag,
          filename: place.found.upload.filename,
          declared_size_bytes: place.found.upload.filesize ?? null,
        };
  return {
    production_id: productionId,
    episode_id: production.episode_id,
    ...source,
    loudness_target_lufs: podcast!.attributes['loudness_target_lufs'],
    title: episode!.attributes['title'],
    podcast_title: podcast!.attributes['title'],
  };
}
