import type { EventOf } from '@longwave/command-catalog';
import { findResource, listLinked, type ResourceRow } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { listEncodings } from '../batch-encodings/batch-encoding-table.ts';
import { publicationOf } from '../imports/publish-imported.ts';
import { fileUsers, isNamed } from '../../workspace/uploads/upload-use-table.ts';
import type { Send } from '../../background/send-as-management.ts';

/** Codes of faults of the file itself, not of the encoder. */
const fileFault = /^media_/;

type Found = Pick<ResourceRow<'productions'>, 'id' | 'attributes'>;

/**
 * Whether an encoded production is newer audio than the episode's current one; ids sort by creation. The production of a batch encoding is
 * as old as the one whose file it encoded again: it never replaces another file, and new audio replaces it.
 */
function isNewer(encoded: Found, current: Found, all: readonly Found[]): boolean {
  const batchOf = ({ attributes }: Found) => attributes.batch_encoding_id;
  const isSameFile = (a: Found, b: Found) => a.attributes.file_url === b.attributes.file_url;
  if (isSameFile(encoded, current)) return encoded.id > current.id;
  if (batchOf(encoded) !== undefined) return false;
  if (batchOf(current) === undefined) return encoded.id > current.id;
  const origin = all.findLast(
    (other) => other.id < current.id && batchOf(other) === undefined && isSameFile(other, current),
  );
  return origin === undefined || encoded.id > origin.id;
}

/**
 * Attaches encoded audio to the episode, unless it has newer audio, and publishes the episode when the production or its import asks for
 * it.
 */
export async function attachAndPublish(
  event: EventOf<'production.encoded'>,
  { send, pool, clock }: { readonly send: Send; readonly pool: Pool; readonly clock: () => Date },
): Promise<void> {
  const { workspace_id: workspaceId, subject: production } = event;
  const { episode_id: episodeId, publication_flag: publish, imported } = event.after.attributes;
  const episode = await findResource(pool, workspaceId, 'episodes', episodeId);
  const all = await listLinked(pool, workspaceId, 'productions', 'episode', episodeId);
  const current = all.find(({ id }) => id === episode?.attributes.current_production_id);
  if (!current || isNewer({ id: production.id, attributes: event.after.attributes }, current, all))
    await send(event, 'attach', {
      type: 'episode.attach_production',
      id: episodeId,
      changes: { production_id: production.id },
    });
  if (publish) await send(event, 'publish', { type: 'episode.publish', id: episodeId, changes: {} });
  else if (imported) {
    const publication = await findPublication(pool, workspaceId, episodeId, clock());
    if (publication) await send(event, publication.type, { ...publication, id: episodeId });
  }
}

/**
 * The command that publishes an imported episode, if its import is to be published. It is called after the audio was attached, so that an
 * import that is marked later finds the episode with its audio.
 */
async function findPublication(pool: Pool, workspaceId: string, episodeId: string, now: Date) {
  const row = await findResource(pool, workspaceId, 'episodes', episodeId);
  if (!row) return undefined;
  const podcast = await findResource(pool, workspaceId, 'podcasts', row.attributes.podcast_id);
  return podcast?.attributes.import?.publish ? publicationOf(row.lifecycle_state, row.attributes, now) : undefined;
}

/** Stops the encodings of a cancelled batch and returns their encoding time. */
export async function stopEncodings(event: EventOf<'batch_encoding.cancelled'>, send: Send, pool: Pool): Promise<void> {
  const podcastId = event.after.attributes.podcast_id;
  for (const id of await listEncodings(pool, event.workspace_id, podcastId, event.subject.id))
    await send(event, id, { type: 'production.stop', id, changes: {} });
}

const otherUsers = fileUsers.filter((type) => type !== 'productions');

/** Ends the upload of a file that is no usable audio, and with it the object, unless another resource uses the file. */
export async function endFaultyUpload(event: EventOf<'production.failed'>, send: Send, pool: Pool): Promise<void> {
  const { problem, upload_id: uploadId } = event.after.attributes;
  if (!problem || uploadId === undefined || !fileFault.test(problem.code)) return;
  const users = await listLinked(pool, event.workspace_id, 'productions', 'upload', uploadId);
  if (users.some(({ id, lifecycle_state: state }) => id !== event.subject.id && !['error', 'deleted'].includes(state)))
    return;
  if (await isNamed(pool, event.workspace_id, uploadId, otherUsers)) return;
  await send(event, 'abort', { type: 'upload.abort', id: uploadId, changes: {} });
}
