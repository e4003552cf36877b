import type { ChangesInput, Resource } from '@longwave/command-catalog';
import { checksumHeaders } from '@longwave/object-store/checksum';
import { maxSinglePutBytes } from '@longwave/object-store/limits';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Asker } from './asker.ts';
import type { Management } from './management.ts';

/** Where and how a client sends a file. */
export const uploadGrant = z.strictObject({
  upload_url: z.url(),
  content_type: z.string(),
  file_url: z.url(),
  multipart_upload: z.boolean(),
  max_size: z
    .int()
    .optional()
    .describe(
      'Without `filesize`: the most bytes that `upload_url` takes, 5 GiB. A larger file needs its `filesize` and is sent in parts.',
    ),
  upload_headers: z
    .record(z.string(), z.string())
    .optional()
    .describe('With `checksum_sha256`: headers that the PUT to `upload_url` must have.'),
  upload_key: z.string().optional(),
  part_size: z.int().optional(),
  multipart_upload_id: z.string().optional(),
});

interface GrantDeps {
  readonly management: Pick<Management, 'execute' | 'signUpload'>;
  readonly redis: Redis;
  readonly clock: () => Date;
}

/** The grant's PUT URL; a retry under the same key gets the same one while it is valid. */
async function uploadUrl(
  asker: Asker,
  upload: Resource<'uploads'>,
  { management, redis, clock }: GrantDeps,
  replayed: boolean,
): Promise<string> {
  const key = `upload_url:${upload.id}`;
  const isKnown = replayed && upload.lifecycle_state === 'granted';
  const known = isKnown ? await redis.get(key).catch(() => null) : null;
  if (known !== null) return known;
  const { url, expiresAtMs } = await management.signUpload(asker, upload.id);
  const leftMs = Number(expiresAtMs) - clock().getTime();
  if (leftMs <= 0) return url;
  // Simultaneous grants share the first URL. Without Redis each gets its own signature, which works as well.
  return (await redis.set(key, url, 'PX', leftMs, 'NX', 'GET').catch(() => null)) ?? url;
}

/** Grants space for one file in the asker's own workspace. */
export async function grantUpload(
  asker: Asker,
  changes: ChangesInput<'upload.grant'>,
  idempotencyKey: string | undefined,
  deps: GrantDeps,
): Promise<{ readonly upload: Resource<'uploads'>; readonly grant: z.output<typeof uploadGrant> }> {
  const { resource, replayed } = await deps.management.execute(asker, {
    type: 'upload.grant',
    changes: { ...changes, upload_type: changes.upload_type ?? 'public' },
    idempotencyKey,
  });
  const { content_type, file_url, filesize, checksum_sha256: sha256, multipart } = resource.attributes;
  return {
    upload: resource,
    grant: {
      upload_url: await uploadUrl(asker, resource, deps, replayed),
      content_type,
      file_url,
      multipart_upload: multipart !== undefined,
      ...multipart,
      ...(sha256 !== undefined && { upload_headers: checksumHeaders(sha256) }),
      ...(filesize === undefined && { max_size: maxSinglePutBytes }),
    },
  };
}
