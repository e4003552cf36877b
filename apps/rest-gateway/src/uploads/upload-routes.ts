import { productCatalog, type Resource } from '@longwave/command-catalog';
import { grantUpload, notFoundProblem, uploadGrant } from '@longwave/hosting-client';
import { idempotencyKeyPattern } from '@longwave/idempotency';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { chosenItems, listQuery, renderList } from '../list-answer.ts';
import { permitCommand, remove } from '../resource-routes.ts';
import { defineRoute, type AnswerShape, type Call, type Route } from '../route.ts';

const grantCommand = productCatalog.commands['upload.grant'];
const uploads = productCatalog.resources.uploads.attributes;

const badKey = 'Invalid upload idempotency key';
/** `idempotency_key` of an upload: the form of the header `Idempotency-Key`, with a message of its own. */
const uploadKey = z.string({ error: badKey }).regex(idempotencyKeyPattern, badKey);

const signedUrl: AnswerShape = {
  name: 'SignedUrl',
  schema: z.strictObject({ url: z.url(), expires_at: z.iso.datetime() }),
};

/** POST /uploads. */
export const startUpload = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    operation: 'uploadGrant',
    summary: grantCommand.summary,
    bucket: 'upload_urls',
    permit: permitCommand('upload.grant'),
    queryOrBody: true,
    body: grantCommand.changes.extend({
      filesize: grantCommand.changes.shape.filesize.describe(
        'Size of the file in bytes, at most 20 GB. `upload_url` then takes exactly this many bytes. Above 30 MB the file can be sent in parts, above 5 GiB it must be. Without `filesize`, the file may have up to 5 GiB.',
      ),
      checksum_sha256: grantCommand.changes.shape.checksum_sha256.describe(
        'SHA-256 of the file in lower-case hexadecimal digits. `upload_url` then takes these bytes and no others, sent with the headers in `upload_headers`. A file that is sent in parts is compared when it is first used, above 256 MiB when it is encoded.',
      ),
      idempotency_key: uploadKey.optional(),
    }),
    status: 201,
    answer: { name: 'UploadGrant', schema: uploadGrant },
    command: true,
    run: async ({ caller, body: { idempotency_key: bodyKey, ...changes }, idempotencyKey }, deps) => {
      const key = bodyKey ?? idempotencyKey;
      if (!uploadKey.optional().safeParse(key).success) throw new Problem('validation_failed', badKey);
      const { grant } = await grantUpload(caller, changes, key, deps);
      return { status: 201, body: grant };
    },
  });

const listedUpload: AnswerShape = {
  name: 'Upload',
  schema: z.strictObject({
    id: z.string(),
    filename: z.string(),
    content_type: z.string(),
    upload_type: uploads.shape.upload_type,
    state: z.enum(productCatalog.resources.uploads.states),
    file_url: z.url(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
};

const upload: AnswerShape = {
  name: 'UploadWithAddress',
  schema: listedUpload.schema.extend({
    /** Bytes; absent until the file has arrived. */
    size: z.int().optional(),
    /** Where the file can be fetched for an hour. */
    download_url: z.url(),
  }),
};

function renderUpload({ id, lifecycle_state: state, attributes, created_at, updated_at }: Resource<'uploads'>) {
  const { filename, content_type, upload_type, file_url } = attributes;
  return { id, filename, content_type, upload_type, state, file_url, created_at, updated_at };
}

/** Only the account itself sees its uploads; collaborators see what was made of them. */
function requireOwnUpload({ caller, object }: Pick<Call, 'caller' | 'object'>): void {
  if (object && object.workspace_id !== caller.workspaceId) throw notFoundProblem('upload', object.id);
}

const ofUpload = { type: 'uploads', from: 'path', field: 'id' } as const;

/** GET /uploads. */
export const listUploads = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'uploadList',
    summary: 'Lists the uploads of your account, without those that were aborted or have expired.',
    query: listQuery,
    answer: { ...listedUpload, list: true },
    run: ({ caller, query, url }, { management, baseUrl }) =>
      renderList(
        management.pages(caller, 'uploads', { workspaceId: caller.workspaceId, ...chosenItems(query) }),
        (found) => found.map(renderUpload),
        query,
        new URL(url, baseUrl).href,
      ),
  });

/** GET /uploads/{id}: the only way to read a private upload. */
export const readUpload = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'uploadGet',
    summary:
      'Reads one upload of your account, with a signed address of its file. The ID is the part of `file_url` that begins with `upl_`.',
    object: ofUpload,
    permit: requireOwnUpload,
    answer: upload,
    run: async ({ caller, object, id }, { management }) => {
      const { url, sizeBytes } = await management.signDownload(caller, id);
      const size = sizeBytes === undefined ? {} : { size: Number(sizeBytes) };
      return { status: 200, body: { ...renderUpload(object), ...size, download_url: url } };
    },
  });

/** DELETE /uploads/{id}. */
export const abortUpload = (path: string): Route => {
  const route = remove(path, 'upload.abort');
  return {
    ...route,
    permit: async (call, deps) => {
      requireOwnUpload(call);
      await route.permit(call, deps);
    },
    // Management lets members of an organization end its uploads; REST does not.
    run: async (call, deps) => {
      await call.getObject();
      return route.run(call, deps);
    },
  };
};

const failed = () => new Problem('validation_failed', 'URL generation failed');

/** The signed URL. Every refusal of management becomes the one message that REST v1 has for it; outages stay outages. */
async function signedAnswer(sign: Promise<{ readonly url: string; readonly expiresAtMs: bigint }>) {
  const { url, expiresAtMs } = await sign.catch((error: unknown) => {
    throw error instanceof Problem && error.status < 500 && error.code !== 'token_invalid' ? failed() : error;
  });
  return { status: 200, body: { url, expires_at: new Date(Number(expiresAtMs)).toISOString() } };
}

const multipartUpload = z.strictObject({ upload_key: z.string().min(1), multipart_upload_id: z.string().min(1) });

/** POST /uploads/part_url. */
export const signPart = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    operation: 'uploadSignPart',
    summary:
      'Signs the PUT URL of one part of a multipart upload. Each part has `part_size` bytes, the last part has the rest. 422 after the parts were joined.',
    bucket: 'upload_urls',
    permit: permitCommand('upload.grant'),
    queryOrBody: true,
    body: multipartUpload.extend({ part_number: z.int().min(1).max(10_000) }),
    answer: signedUrl,
    run: ({ caller, body }, deps) =>
      signedAnswer(
        deps.management.signPart(caller, {
          uploadKey: body.upload_key,
          multipartUploadId: body.multipart_upload_id,
          partNumber: body.part_number,
        }),
      ),
  });

/** POST /uploads/complete_multipart_url. */
export const signCompletion = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    operation: 'uploadSignCompletion',
    summary: 'Signs the URL to which you POST the list of parts, to complete a multipart upload.',
    bucket: 'upload_urls',
    permit: permitCommand('upload.grant'),
    queryOrBody: true,
    body: multipartUpload,
    answer: signedUrl,
    run: ({ caller, body }, deps) =>
      signedAnswer(
        deps.management.signCompletion(caller, {
          uploadKey: body.upload_key,
          multipartUploadId: body.multipart_upload_id,
        }),
      ),
  });
