import type { EventOf } from '@longwave/command-catalog';
import { listLinked } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Send } from '../../background/send-as-management.ts';

const clipsOf = async (event: DomainEvent, pool: Pool) =>
  (await listLinked(pool, event.workspace_id, 'media_clips', 'production', event.subject.id)).filter(
    ({ lifecycle_state: state }) => state === 'active',
  );

/** Records the file of an encoded production as a clip of its episode, beside those of earlier productions. */
export async function recordClip(event: EventOf<'production.encoded'>, send: Send, pool: Pool): Promise<void> {
  const { episode_id: episodeId, files, audio_duration_ms: durationMs } = event.after.attributes;
  const made = files.find(({ role, format }) => role === 'rendition' && format === 'mp3');
  if (!made || (await clipsOf(event, pool)).length > 0) return;
  await send(event, 'clip', {
    type: 'media_clip.record',
    id: null,
    changes: {
      episode_id: episodeId,
      production_id: event.subject.id,
      file_format: 'mp3',
      sha256: made.sha256,
      size: made.size_bytes,
      // An encoded production has its duration.
      duration_ms: made.duration_ms ?? durationMs!,
    },
  });
}

/** Deletes the clips that a production made of its previous source. */
export async function deleteClips(event: EventOf<'production.revised'>, send: Send, pool: Pool): Promise<void> {
  if (event.after.lifecycle_state !== 'initial') return;
  for (const { id } of await clipsOf(event, pool))
    await send(event, `delete:${id}`, { type: 'media_clip.delete', id, changes: {} });
}
