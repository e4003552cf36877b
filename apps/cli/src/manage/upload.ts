import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob, statSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { ManagementApi } from './management-api.ts';
import { readWords } from './words.ts';
import { workspaceOf } from './workspace.ts';

const grantedSchema = z.object({ subject: z.object({ id: z.string() }) });
const addressSchema = z.object({ url: z.url(), headers: z.record(z.string(), z.string()) });

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/**
 * `manage upload FILE`: sends a file to the object store and answers the ID of its upload. The key is made of the file's name and bytes, so
 * that a repetition after a lost answer is the same upload.
 */
export async function upload(api: ManagementApi, args: readonly string[], tell: (line: string) => void) {
  const { positionals, values } = readWords(args, ['FILE'], {});
  const [file] = positionals as [string];
  const [{ size }, checksum] = [statSync(file), await sha256Of(file)];
  const filename = path.basename(file);
  const workspace = `/workspaces/${await workspaceOf(api, values.workspace)}`;
  const day = new Date().toISOString().slice(0, 10);
  const key = createHash('sha256').update(`${checksum} ${filename} ${day}`).digest('hex');
  const { subject } = grantedSchema.parse(
    await api.ask({
      method: 'POST',
      path: `${workspace}/commands/upload.grant`,
      headers: { 'Idempotency-Key': `cli-${key}` },
      body: {
        subject: { type: 'uploads', id: null },
        changes: {
          ...{ filename, filesize: size, checksum_sha256: checksum },
          // Counts of a buyer are for a reconciliation, which takes no file that others can read.
          ...(filename.toLowerCase().endsWith('.csv') && { upload_type: 'private' }),
        },
      },
    }),
  );
  const address = addressSchema.parse(await api.ask({ path: `${workspace}/uploads/${subject.id}/address` }));
  tell(`Sending ${filename}, ${(size / 1e6).toFixed(1)} MB`);
  const response = await fetch(address.url, {
    method: 'PUT',
    headers: address.headers,
    body: await openAsBlob(file),
  });
  if (!response.ok) throw new Error(`The object store refused the file: ${response.status}. Send it again.`);
  return values.json ? JSON.stringify({ id: subject.id }, null, 2) : subject.id;
}
