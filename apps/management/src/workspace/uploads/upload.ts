import type { z } from 'zod';
import type { uploads } from '@longwave/command-catalog';

export type Upload = z.output<typeof uploads.attributes>;

/** Seconds that a signed upload URL is valid. */
export const uploadUrlSeconds = 3600;

/** Milliseconds from the grant to the end of a temporary or unused upload. */
export const uploadLifeMs = 24 * 3600_000;

/** Letters, digits, dot, dash and underscore of a file name; the rest becomes "-" (Apple: ASCII file names). */
function safeFilename(filename: string): string {
  const safe = filename
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+/, '');
  return safe || 'file';
}

/** The storage key of an upload's bytes. */
export const storageKeyOf = (uploadId: string, filename: string): string =>
  `uploads/${uploadId}/${safeFilename(filename)}`;

/** The storage key of the kept bytes of an upload, by the store's digest of them. */
export const keptKeyOf = (storageKey: string, etag: string): string => {
  const at = storageKey.lastIndexOf('/');
  return `${storageKey.slice(0, at)}/${etag.replace(/[^A-Za-z0-9-]/g, '')}${storageKey.slice(at)}`;
};

/** The stable public address of an upload. */
export const fileUrlOf = (mediaUrl: string, uploadId: string, filename: string): string =>
  `${mediaUrl}/delivery/v1/f/${uploadId}/${safeFilename(filename)}`;

/** The upload a `file_url` of this service names, or undefined for any other URL. */
export function uploadIdOf(mediaUrl: string, fileUrl: string): string | undefined {
  const prefix = `${mediaUrl}/delivery/v1/f/`;
  return fileUrl.startsWith(prefix) ? /^(upl_[0-9a-z]{26})\//.exec(fileUrl.slice(prefix.length))?.[1] : undefined;
}

/** The upload whose bytes lie under a storage key. */
export const uploadIdOfKey = (storageKey: string): string | undefined =>
  /^uploads\/(upl_[0-9a-z]{26})\//.exec(storageKey)?.[1];
