import type { Actor } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { receivedUpload } from '../../workspace/uploads/find-upload.ts';
import { uploadIdOf } from '../../workspace/uploads/upload.ts';

/** The upload that a `file_url` names, once its bytes are there. Throws `upload_not_received` naming the field. */
export type FindNamedUpload = (input: {
  readonly workspaceId: string;
  readonly actor: Actor;
  readonly fileUrl: string;
  readonly path: string;
}) => ReturnType<typeof receivedUpload>;

export const createFindNamedUpload =
  (pool: Pool, store: ObjectStore, mediaUrl: string): FindNamedUpload =>
  ({ workspaceId, actor, fileUrl, path }) =>
    receivedUpload(pool, store, { workspaceId, actor, uploadId: uploadIdOf(mediaUrl, fileUrl), path });
