import { findResource } from '@longwave/command-pipeline';
import type { EncodingJobInput } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';
import type { Episode } from '../episodes/episode.ts';
import { expectedEncodingMs, type Workload, type WorkClass } from '../../background/job-order.ts';
import { declaredChecksum } from '../../workspace/uploads/find-upload.ts';
import type { SourceLocation } from './production-source.ts';
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

/** A person waits for a new episode; an episode that has audio, or is part of an import or batch, can wait longer. */
function workClassOf(production: Production, episode: Episode): WorkClass {
  if (production.imported || production.batch_encoding_id) return 'bulk';
  return episode.current_production_id ? 're_encoding' : 'interactive';
}

/** The encoder's input for a production, and its place in the queue. */
export async function encodeJob(
  tx: Transaction,
  started: {
    readonly workspaceId: string;
    readonly productionId: string;
    readonly production: Production;
    readonly location: SourceLocation;
    /** 0: unknown. */
    readonly durationMs: number;
  },
): Promise<{ readonly input: EncodingJobInput<'encode_production'>; readonly work: Workload }> {
  const { workspaceId, productionId, production, location, durationMs } = started;
  const episode = await findResource(tx, workspaceId, 'episodes', production.episode_id);
  const podcast = await findResource(tx, workspaceId, 'podcasts', episode!.attributes.podcast_id);
  const source =
    location.kind === 'outside'
      ? {
          source_url: location.url,
          filename: filenameOf(location.url),
          declared_size_bytes: null,
          ...(production.declared && { declared: production.declared }),
        }
      : {
          storage_key: location.found.upload.storage_key,
          // The bytes that were probed; an encoder refuses others under the same key.
          source_etag: location.found.etag,
          ...declaredChecksum(location.found),
          filename: location.found.upload.filename,
          declared_size_bytes: location.found.upload.filesize ?? null,
          ...(production.declared && {
            declared_sha256: production.declared.sha256,
            declared_size_bytes: production.declared.size_bytes,
          }),
        };
  const sizeBytes = location.kind === 'stored' ? location.found.sizeBytes : undefined;
  return {
    input: {
      production_id: productionId,
      episode_id: production.episode_id,
      ...source,
      loudness_target_lufs: podcast!.attributes.loudness_target_lufs,
      title: episode!.attributes.title,
      podcast_title: podcast!.attributes.title,
    },
    work: {
      workClass: workClassOf(production, episode!.attributes),
      expectedMs: expectedEncodingMs({ durationMs, sizeBytes }),
    },
  };
}
