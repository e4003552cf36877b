import { askManagement, sendCommand } from '../management.ts';
import { putBytes } from './put-part.ts';

/** Bytes of the largest file of counts that a reconciliation takes (20 MiB). */
export const privateSizeMax = 20_971_520;

const hex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

/**
 * Sends a file that nobody else may read to a workspace, and answers the id of its upload. The same file of a day is sent under one grant.
 * @throws ApiProblem, StoreFault; the signal's reason after an abort
 */
export async function sendPrivate(
  workspace: string,
  file: File,
  options: { readonly signal: AbortSignal; readonly onProgress: (sent: number) => void },
): Promise<string> {
  const { name: filename, size: filesize } = file;
  const digest = async (bytes: BufferSource) => hex(await crypto.subtle.digest('SHA-256', bytes));
  const checksum = await digest(await file.arrayBuffer());
  const day = new Date().toISOString().slice(0, 10);
  const key = await digest(new TextEncoder().encode(JSON.stringify([workspace, filename, checksum, day])));
  const { subject } = await sendCommand(
    workspace,
    {
      ...{ type: 'upload.grant', subject: { type: 'uploads', id: null } },
      changes: { filename, filesize, checksum_sha256: checksum, upload_type: 'private' },
    },
    `web:${key}`,
  );
  const path = `/workspaces/${workspace}/uploads/${subject.id}/address`;
  const { url, headers } = await askManagement<{
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  }>(path, { signal: options.signal });
  await putBytes(url, file, { ...options, headers });
  return subject.id;
}
