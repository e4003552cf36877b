import type { DomainEvent } from '@longwave/events';
import type { ObjectStore } from '@longwave/object-store';
import type { Send } from './send-as-management.ts';
import type { Upload } from '../uploads/upload.ts';

/** The finding of a file's own fault, as opposed to an encoder's trouble. */
const fileFault = /^media_/;

/** After encoding: the episode gets its audio and, when asked for, is published. */
export async function attachAndPublish(event: DomainEvent, send: Send): Promise<void> {
  const { episode_id: episodeId, publication_flag: publish } = event.after.attributes as {
    episode_id: string;
    publication_flag: boolean;
  };
  const subject = { type: 'episodes', id: episodeId };
  await send(event, 'attach', {
    commandType: 'episode.attach_production',
    subject,
    changes: { production_id: event.subject.id },
  });
  if (publish) await send(event, 'publish', { commandType: 'episode.publish', subject, changes: {} });
}

/** A file that is no usable audio leaves nothing behind: its object goes, then its upload ends. */
export async function removeFaultySource(
  event: DomainEvent,
  send: Send,
  store: ObjectStore,
  readUpload: (workspaceId: string, id: string) => Promise<Upload | undefined>,
): Promise<void> {
  const { problem, upload_id: uploadId } = event.after.attributes as { problem: { code: string }; upload_id: string };
  if (!fileFault.test(problem.code)) return;
  const upload = await readUpload(event.workspace_id, uploadId);
  if (!upload) return;
  await store.remove(upload.storage_key);
  await send(event, 'abort', { commandType: 'upload.abort', subject: { type: 'uploads', id: uploadId }, changes: {} });
}
