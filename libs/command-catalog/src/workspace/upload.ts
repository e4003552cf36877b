import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { webUrl } from '../fields.ts';

/** Bytes above which an upload is multipart, and the size of one part. */
export const partSizeBytes = 31_457_280;
/** 20 GB. */
export const maxUploadBytes = 21_474_836_480;

const filename = z
  .string()
  .min(1)
  .max(255)
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  .regex(/^[^/\\\u0000-\u001f]+$/, 'Write a file name without slashes.');
const checksum = z.string().regex(/^[0-9a-f]{64}$/, 'Use 64 hexadecimal digits in lower case.');
const uploadType = z.enum(['public', 'private', 'temporary']);

/** Uploads: a granted address in the object store, and the file that a client sends there. */
export const uploads = defineResource({
  type: 'uploads',
  noun: 'upload',
  prefix: 'upl',
  attributes: z.strictObject({
    filename,
    content_type: z.string(),
    filesize: z.int().min(0).optional(),
    /** Announced SHA-256 of the file. */
    checksum_sha256: checksum.optional(),
    upload_type: uploadType,
    storage_key: z.string(),
    /** Stable address of the file. */
    file_url: webUrl,
    multipart: z
      .strictObject({ upload_key: z.string(), part_size: z.literal(partSizeBytes), multipart_upload_id: z.string() })
      .optional(),
    /** The part that was asked for last; each version that a part was asked for names one. */
    last_signed_part: z.int().min(1).optional(),
  }),
  states: ['granted', 'received', 'expired', 'aborted'],
  terminalStates: ['expired', 'aborted'],
  links: {},
  uniqueAttributes: [],
});

/** Roles that may bring a file. */
const uploaders = ['owner', 'editor', 'producer', 'admin', 'trafficker', 'finance'] as const;

export const uploadCommands = {
  'upload.grant': defineCommand({
    type: 'upload.grant',
    subject: 'uploads',
    to: 'granted',
    changes: z.strictObject({
      filename,
      filesize: z.int().min(0).max(maxUploadBytes, 'File size exceeds the maximum allowed').optional(),
      checksum_sha256: checksum.optional(),
      upload_type: uploadType.optional(),
    }),
    roles: uploaders,
    event: 'upload.granted',
    hasRule: true,
    problems: ['validation_failed'],
    externalEffect: 'Above 30 MB a multipart upload is opened in the object store.',
    summary: 'Grants space in the object store for one file.',
  }),
  'upload.sign_part': defineCommand({
    type: 'upload.sign_part',
    subject: 'uploads',
    from: ['granted'],
    changes: z.strictObject({ part_number: z.int().min(1).max(10_000) }),
    roles: uploaders,
    event: 'upload.part_signed',
    hasRule: true,
    problems: ['validation_failed'],
    externalEffect: 'Whoever reads the part’s address may send its bytes for an hour.',
    summary: 'Asks for the signed address of one part of a file above 30 MB; the part is then read at its own path.',
  }),
  'upload.complete': defineCommand({
    type: 'upload.complete',
    subject: 'uploads',
    from: ['granted'],
    to: 'received',
    changes: z.strictObject({}),
    roles: uploaders,
    machines: ['management'],
    event: 'upload.received',
    hasRule: true,
    problems: ['upload_not_received', 'temporarily_unavailable'],
    externalEffect: 'The bytes that were used are copied to a separate key.',
    summary:
      'Records that the file is there or used: it does not expire, no more of its parts are signed, and its bytes no longer change.',
  }),
  'upload.expire': defineCommand({
    type: 'upload.expire',
    subject: 'uploads',
    from: ['granted', 'received'],
    to: 'expired',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'upload.expired',
    hasRule: true,
    problems: ['state_not_allowed'],
    externalEffect: 'The object is removed.',
    summary: 'The clock ends a temporary upload after 24 h, and an upload that was never used.',
  }),
  'upload.abort': defineCommand({
    type: 'upload.abort',
    subject: 'uploads',
    from: ['granted', 'received'],
    to: 'aborted',
    changes: z.strictObject({}),
    roles: ['owner', 'editor', 'producer'],
    machines: ['management'],
    event: 'upload.aborted',
    hasRule: true,
    problems: ['state_not_allowed'],
    externalEffect: 'The object is removed.',
    summary: 'Aborts an upload and removes the stored data. Refused while a resource uses the file.',
  }),
} as const;
