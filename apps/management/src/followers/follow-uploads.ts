import type { DomainEvent } from '@longwave/events';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { findUpload } from '../uploads/find-upload.ts';
import type { Upload } from '../uploads/upload.ts';
import type { Send } from './send-as-management.ts';

/** Attributes whose files a rule has checked: the upload may be one of the collaborator's own workspace. */
const checked = ['storage_key', 'upload_id', 'url', 'artwork_url', 'intro', 'outro'] as const;

const uploadIds = (value: unknown) => new Set(JSON.stringify(value ?? null).match(/upl_[0-9a-z]{26}/g));

/** Files that something names have arrived: they do not expire, and no further part of them is signed. */
export async function markFilesReceived(
  event: DomainEvent,
  { send, pool, store }: { readonly send: Send; readonly pool: Pool; readonly store: ObjectStore },
): Promise<void> {
  const { attributes } = event.after;
  const anywhere = uploadIds(checked.map((name) => attributes[name]));
  for (const id of uploadIds(attributes)) {
    const upload = await findUpload(pool, id);
    if (upload?.lifecycle_state !== 'granted') continue;
    if (upload.workspace_id !== event.workspace_id && !anywhere.has(id)) continue;
    // An address may be named before its file is there.
    if (!(await store.find((upload.attributes as unknown as Upload).storage_key))) continue;
    await send({ id: event.id, workspace_id: upload.workspace_id }, `receive:${id}`, {
      commandType: 'upload.receive',
      subject: { type: 'uploads', id },
      changes: {},
    });
  }
}
