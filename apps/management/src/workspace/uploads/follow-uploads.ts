import type { EventOf } from '@longwave/command-catalog';
import { findAnywhere } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { isNamedBy } from './upload-use-table.ts';
import type { Send } from '../../background/send-as-management.ts';

const uploadIds = (value: unknown) => new Set(JSON.stringify(value).match(/upl_[0-9a-z]{26}/g));

/** Marks the uploads that a resource names as received: they do not expire, and no further part of them is signed. */
export async function markFilesReceived(
  event: DomainEvent,
  { send, pool, store }: { readonly send: Send; readonly pool: Pool; readonly store: ObjectStore },
): Promise<void> {
  for (const id of uploadIds(event.after.attributes)) {
    const upload = await findAnywhere(pool, 'uploads', id);
    if (upload?.lifecycle_state !== 'granted') continue;
    // An id in a text, or in an address of another host, names no file.
    if (!(await isNamedBy(pool, id, event.subject.id))) continue;
    // A client may name an address before it sends the file.
    if (!(await store.find(upload.attributes.storage_key))) continue;
    await send({ id: event.id, workspace_id: upload.workspace_id }, `receive:${id}`, {
      type: 'upload.complete',
      id,
      changes: {},
    });
  }
}

/** Removes what was sent for an upload that has ended. */
export async function removeObject(
  event: EventOf<'upload.aborted' | 'upload.expired'>,
  store: ObjectStore,
): Promise<void> {
  const { multipart } = event.after.attributes;
  // The sent object and the kept copy of it (ADR 23).
  for await (const { key } of store.list(`uploads/${event.subject.id}/`)) await store.remove(key);
  if (multipart) await store.abortMultipartUpload(multipart.upload_key, multipart.multipart_upload_id);
}
