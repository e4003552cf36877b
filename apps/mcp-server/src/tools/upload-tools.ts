import { partSizeBytes, productCatalog } from '@longwave/command-catalog';
import { grantUpload, type Asker } from '@longwave/hosting-client';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { addTool, grantTool, type ToolDeps } from '../tool.ts';
import { uploadId, writeArguments } from './fields.ts';

const { filename, filesize, upload_type, checksum_sha256 } = productCatalog.commands['upload.grant'].changes.shape;

/** Parts whose addresses one answer has. */
const partsAtOnce = 50;

const part = z.strictObject({ part_number: z.int(), url: z.url() });

/** Addresses of parts from one on. */
async function signParts(
  asker: Asker,
  upload: { readonly uploadKey: string; readonly multipartUploadId: string },
  { first, count }: { readonly first: number; readonly count: number },
  { management }: ToolDeps,
) {
  const numbers = Array.from({ length: Math.min(partsAtOnce, count - first + 1) }, (_, at) => first + at);
  return Promise.all(
    numbers.map(async (partNumber) => ({
      part_number: partNumber,
      url: (await management.signPart(asker, { ...upload, partNumber })).url,
    })),
  );
}

export const createUpload = grantTool({
  name: 'create_upload',
  title: 'Get an address for a file',
  description: `Grants space for one file, and answers where to send it: PUT the bytes to \`upload_url\` with \`content_type\`, outside of this protocol. A file above 30 MB may be sent in parts of ${partSizeBytes} bytes, above 5 GiB it must be: PUT each to its address and keep the ETag of the answer. Then call complete_upload.`,
  scopes: ['mcp:media.write'],
  input: z.strictObject({
    filename: filename.describe('The extension says what kind of file it is.'),
    filesize: filesize.describe('Bytes, at most 20 GB. Without it the file may have up to 5 GiB.'),
    checksum_sha256: checksum_sha256.describe('SHA-256 of the file in lower-case hexadecimal digits.'),
    upload_type,
    first_part: z
      .int()
      .min(1)
      .max(10_000)
      .default(1)
      .describe(
        `The answer has the addresses of ${partsAtOnce} parts, from this one on. For the others, call again with the same idempotency_key.`,
      ),
    ...writeArguments,
  }),
  output: z.strictObject({
    upload_id: z.string(),
    upload_url: z.url(),
    upload_headers: z.record(z.string(), z.string()).optional().describe('Headers that the PUT must have.'),
    content_type: z.string(),
    file_url: z.url().describe('The file for other tools, once it is there.'),
    max_size: z.int().optional(),
    parts: z
      .strictObject({ part_size: z.int(), part_count: z.int(), addresses: z.array(part) })
      .nullable()
      .describe('Null for a file that is sent in one piece.'),
  }),
  run: async ({ asker, args: { idempotency_key: key, first_part: first, ...changes } }, deps) => {
    const { upload, grant } = await grantUpload(asker, changes, key, deps);
    const { upload_url, upload_headers, content_type, file_url, max_size } = grant;
    const { multipart, filesize: size } = upload.attributes;
    const count = multipart && size !== undefined ? Math.ceil(size / multipart.part_size) : 0;
    if (multipart && first > count)
      throw new Problem('validation_failed', `The file has ${count} parts: begin with one of them.`);
    return {
      output: {
        upload_id: upload.id,
        upload_url,
        ...(upload_headers && { upload_headers }),
        content_type,
        file_url,
        ...(max_size !== undefined && { max_size }),
        parts: multipart
          ? {
              part_size: multipart.part_size,
              part_count: count,
              addresses: await signParts(
                asker,
                { uploadKey: multipart.upload_key, multipartUploadId: multipart.multipart_upload_id },
                { first, count },
                deps,
              ),
            }
          : null,
      },
    };
  },
});

const sentPart = z.strictObject({
  part_number: z.int().min(1).max(10_000),
  etag: z
    .string()
    .regex(/^"?[0-9A-Za-z-]{1,128}"?$/, 'Write the ETag as the answer to the PUT has it.')
    .describe('ETag of the answer to the PUT of the part.'),
});

/** How long the object store may take to join parts. */
const joinMs = 60_000;

/** Joins the parts of a file (S3, CompleteMultipartUpload). */
async function joinParts(url: string, parts: readonly z.output<typeof sentPart>[]): Promise<void> {
  const ordered = parts.toSorted((a, b) => a.part_number - b.part_number);
  const lines = ordered.map(
    ({ part_number, etag }) =>
      `<Part><PartNumber>${part_number}</PartNumber><ETag>"${etag.replaceAll('"', '')}"</ETag></Part>`,
  );
  const answer = await fetch(url, {
    method: 'POST',
    body: `<CompleteMultipartUpload>${lines.join('')}</CompleteMultipartUpload>`,
    signal: AbortSignal.timeout(joinMs),
  }).catch((cause: unknown) => {
    throw new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 2 });
  });
  // The store may answer 200 and name the error in the body.
  const text = await answer.text();
  if (!answer.ok || text.includes('<Error>'))
    throw new Problem('upload_not_received', 'The parts cannot be joined: send each part, and its ETag, once.');
}

export const completeUpload = addTool({
  name: 'complete_upload',
  title: 'Finish an upload',
  description:
    'Finishes an upload after its bytes were sent: joins the parts of a file that was sent in parts, and keeps the bytes as they are now.',
  scopes: ['mcp:media.write'],
  deadlineMs: 90_000,
  input: z.strictObject({
    upload_id: uploadId,
    parts: z.array(sentPart).max(10_000).default([]).describe('Of a file that was sent in parts: all of them.'),
    ...writeArguments,
  }),
  output: z.strictObject({
    upload_id: z.string(),
    state: z.string(),
    file_url: z.url(),
  }),
  run: async ({ asker, args: { upload_id: id, parts, idempotency_key: idempotencyKey } }, { management }) => {
    const { resource: upload } = await management.find(asker, 'uploads', id);
    const { multipart } = upload.attributes;
    if (multipart && parts.length > 0 && upload.lifecycle_state === 'granted') {
      const of = { uploadKey: multipart.upload_key, multipartUploadId: multipart.multipart_upload_id };
      await joinParts((await management.signCompletion(asker, of)).url, parts);
    }
    // A resource that names the file completes it as well.
    const isThere = upload.lifecycle_state === 'received';
    const write = { type: 'upload.complete', subjectId: id, changes: {}, idempotencyKey } as const;
    const { lifecycle_state: state, attributes } = isThere ? upload : (await management.execute(asker, write)).resource;
    return { output: { upload_id: id, state, file_url: attributes.file_url } };
  },
});
