import type { Attributes } from '@longwave/command-catalog';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { isProblem, Problem } from '@longwave/problems';
import { receivedUpload, type ReceivedUpload } from '../../workspace/uploads/find-upload.ts';

/** Why nothing more can be made of an ad. */
export const sourceGone = {
  code: 'upload_not_received',
  detail: 'The file that this ad was made of is not stored any more. Make another creative.',
};

/** Where the rules of a creative point to. */
export const subjectPath = '/subject';

/** The file that a creative was made of; undefined when it is not stored any more. */
export async function findStoredAd(
  { pool, store }: { readonly pool: Pool; readonly store: ObjectStore },
  workspaceId: string,
  uploadId: string | undefined,
): Promise<ReceivedUpload | undefined> {
  try {
    return await receivedUpload(pool, store, { workspaceId, uploadId, path: subjectPath });
  } catch (error) {
    if (isProblem(error, 'upload_not_received')) return undefined;
    throw error;
  }
}

/** Throws `temporarily_unavailable` when the creative got another file since it was looked for. */
export function requireSameUpload(current: Pick<Attributes<'creatives'>, 'upload_id'>, uploadId: string | undefined) {
  if (current.upload_id !== uploadId)
    throw new Problem('temporarily_unavailable', 'The creative changed at the same moment. Try again.', {
      retryAfterSeconds: 1,
    });
}
