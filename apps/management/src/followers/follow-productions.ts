import { findResource, listLinked } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Episode } from '../episodes/episode.ts';
import { hasAudio } from '../episodes/require-audio.ts';
import { fileUsers, isNamed } from '../uploads/upload-use.ts';
import type { Send } from './send-as-management.ts';

/** The finding of a file's own fault, as opposed to an encoder's trouble. */
const fileFault = /^media_/;

interface ProductionFacts {
  readonly episode_id: string;
  /** Absent when the source lies outside the service, or in another workspace. */
  readonly upload_id?: string;
  readonly publication_flag: boolean;
  readonly problem?: { readonly code: string };
}
const factsOf = (event: DomainEvent) => event.after.attributes as unknown as ProductionFacts;

/**
 * After encoding: the episode gets its audio and, when asked for, is published. An older production that ends later than a
 * newer one never takes its place (ids sort by creation).
 */
export async function attachAndPublish(event: DomainEvent, send: Send, pool: Pool): Promise<void> {
  const { episode_id: episodeId, publication_flag: publish } = factsOf(event);
  const subject = { type: 'episodes', id: episodeId };
  const episode = await findResource(pool, event.workspace_id, 'episodes', episodeId);
  const current = episode?.attributes['current_production_id'];
  if (typeof current !== 'string' || current < event.subject.id)
    await send(event, 'attach', {
      commandType: 'episode.attach_production',
      subject,
      changes: { production_id: event.subject.id },
    });
  if (publish) await send(event, 'publish', { commandType: 'episode.publish', subject, changes: {} });
}

const otherUsers = fileUsers.filter((type) => type !== 'productions');

/** A file that is no usable audio leaves nothing behind: its upload ends, and with it the object, unless anything else uses it. */
export async function endFaultyUpload(event: DomainEvent, send: Send, pool: Pool): Promise<void> {
  const { problem, upload_id: uploadId } = factsOf(event);
  if (!problem || uploadId === undefined || !fileFault.test(problem.code)) return;
  const users = await listLinked(pool, event.workspace_id, 'productions', 'upload', uploadId);
  if (users.some(({ id, lifecycle_state: state }) => id !== event.subject.id && !['error', 'deleted'].includes(state)))
    return;
  if (await isNamed(pool, event.workspace_id, uploadId, otherUsers)) return;
  await send(event, 'abort', {
    commandType: 'upload.abort',
    subject: { type: 'uploads', id: uploadId },
    changes: {},
  });
}

/** A clip is gone: a published episode that has nothing left to hear leaves the feed. */
export async function unpublishSilentEpisode(event: DomainEvent, send: Send, pool: Pool): Promise<void> {
  const id = String(event.after.attributes['episode_id']);
  const episode = await findResource(pool, event.workspace_id, 'episodes', id);
  if (episode?.lifecycle_state !== 'published') return;
  if (await hasAudio(pool, event.workspace_id, id, episode.attributes as unknown as Episode)) return;
  await send(event, 'unpublish', { commandType: 'episode.unpublish', subject: { type: 'episodes', id }, changes: {} });
}
