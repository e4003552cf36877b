import { findResource, listLinked } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { listEncodings } from '../batch-encodings/batch-encoding-table.ts';
import type { Episode } from '../episodes/episode.ts';
import { publicationOf } from '../imports/publish-imported.ts';
import type { Podcast } from '../podcasts/podcast.ts';
import { fileUsers, isNamed } from '../uploads/upload-use.ts';
import type { Send } from './send-as-management.ts';

/** The finding of a file's own fault, as opposed to an encoder's trouble. */
const fileFault = /^media_/;

interface ProductionFacts {
  readonly episode_id: string;
  /** Absent when the source lies outside the service, or in another workspace. */
  readonly upload_id?: string;
  readonly publication_flag: boolean;
  readonly imported?: boolean;
  readonly problem?: { readonly code: string };
}
const factsOf = (event: DomainEvent) => event.after.attributes as unknown as ProductionFacts;
type Found = { readonly id: string; readonly attributes: Readonly<Record<string, unknown>> };

/**
 * Whether an encoded production is newer audio than the episode's current one; ids sort by creation. What a batch encoding
 * made is as old as the production whose file it encoded again: it never replaces another file, and new audio replaces it.
 */
function isNewer(encoded: Found, current: Found, all: readonly Found[]): boolean {
  const batchOf = ({ attributes }: Found) => attributes['batch_encoding_id'];
  const isSameFile = (a: Found, b: Found) => a.attributes['file_url'] === b.attributes['file_url'];
  if (isSameFile(encoded, current)) return encoded.id > current.id;
  if (batchOf(encoded) !== undefined) return false;
  if (batchOf(current) === undefined) return encoded.id > current.id;
  const origin = all.findLast(
    (other) => other.id < current.id && batchOf(other) === undefined && isSameFile(other, current),
  );
  return origin === undefined || encoded.id > origin.id;
}

/**
 * After encoding: the episode gets its audio, unless it has newer one, and is published when the production or its import asks for
 * that.
 */
export async function attachAndPublish(
  event: DomainEvent,
  { send, pool, clock }: { readonly send: Send; readonly pool: Pool; readonly clock: () => Date },
): Promise<void> {
  const { workspace_id: workspaceId, subject: production } = event;
  const { episode_id: episodeId, publication_flag: publish, imported } = factsOf(event);
  const subject = { type: 'episodes', id: episodeId };
  const episode = await findResource(pool, workspaceId, 'episodes', episodeId);
  const all = await listLinked(pool, workspaceId, 'productions', 'episode', episodeId);
  const current = all.find(({ id }) => id === episode?.attributes['current_production_id']);
  if (!current || isNewer({ id: production.id, attributes: event.after.attributes }, current, all))
    await send(event, 'attach', {
      commandType: 'episode.attach_production',
      subject,
      changes: { production_id: production.id },
    });
  if (publish) await send(event, 'publish', { commandType: 'episode.publish', subject, changes: {} });
  else if (imported) {
    const publication = await findPublication(pool, workspaceId, episodeId, clock());
    if (publication) await send(event, publication.commandType, { ...publication, subject });
  }
}

/**
 * What publishes an imported episode, if its import is to be published. Read after the audio was attached: whoever marks the import
 * later finds the episode with its audio.
 */
async function findPublication(pool: Pool, workspaceId: string, episodeId: string, now: Date) {
  const row = await findResource(pool, workspaceId, 'episodes', episodeId);
  const episode = row?.attributes as unknown as Episode | undefined;
  if (!row || !episode) return undefined;
  const podcast = await findResource(pool, workspaceId, 'podcasts', episode.podcast_id);
  const { import: movedIn } = (podcast?.attributes ?? {}) as Partial<Podcast>;
  return movedIn?.publish ? publicationOf(row.lifecycle_state, episode, now) : undefined;
}

/** A batch encoding was cancelled: encoders stop working for it, and the encoding time is returned. */
export async function stopEncodings(event: DomainEvent, send: Send, pool: Pool): Promise<void> {
  const podcastId = String(event.after.attributes['podcast_id']);
  for (const id of await listEncodings(pool, event.workspace_id, podcastId, event.subject.id))
    await send(event, id, { commandType: 'production.stop', subject: { type: 'productions', id }, changes: {} });
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
