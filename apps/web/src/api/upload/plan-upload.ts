/** Bytes of the largest file; REST v1 grants no more (20 GB). */
export const uploadSizeMax = 21_474_836_480;
/** Parts of one file that are on their way at once. */
export const partsAtOnce = 4;

/** What is known of a file before one of its bytes is read. */
export interface FileFacts {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly lastModified: number;
}

/** Why a file is not worth sending. */
export type Refusal = 'empty' | 'too_large' | 'not_audio';

/** Extensions of sound and films, for systems that do not tell the browser the type of such files. */
const soundExtensions =
  /\.(aac|ac3|aif|aifc|aiff|avi|caf|flac|m4a|m4b|m4v|mka|mkv|mov|mp2|mp3|mp4|mpeg|mpg|oga|ogg|ogv|opus|w64|wav|weba|webm|wma)$/i;

/** Why a file cannot be the recording of an episode; undefined when it may be one. */
export function refusalOf({ name, size, type }: FileFacts & { readonly type: string }): Refusal | undefined {
  if (!/^(audio|video)\//.test(type) && !soundExtensions.test(name)) return 'not_audio';
  if (size > uploadSizeMax) return 'too_large';
  return size === 0 ? 'empty' : undefined;
}

/** One part of a file: the bytes from `from`, up to and without `to`. */
export interface Part {
  /** From 1. */
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

/** The parts of a file: each has `partSize` bytes, the last one has the rest. */
export const planParts = (size: number, partSize: number): readonly Part[] =>
  Array.from({ length: Math.ceil(size / partSize) }, (_, index) => ({
    number: index + 1,
    from: index * partSize,
    to: Math.min(size, (index + 1) * partSize),
  }));

/** Bytes of the parts whose ETag is known. */
export const storedBytes = (parts: readonly Part[], etags: Readonly<Record<number, string>>): number =>
  parts.reduce((sum, { number, from, to }) => sum + (etags[number] === undefined ? 0 : to - from), 0);

/**
 * How long to wait after a failed try, in milliseconds: 1, 3, 9, and from then on 27 s, each up to a quarter longer, so that parts do not come back in
 * step.
 */
export const pauseMs = (failedTries: number, random: number): number =>
  1000 * 3 ** Math.min(failedTries - 1, 3) * (1 + random / 4);

/** The same file for the same target has the same id, in each tab and after a reload. */
export async function uploadIdOf({ name, size, lastModified }: FileFacts, target: string): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify([name, size, lastModified, target]));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', text));
  return `web:${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** The key of a grant: the id, and from the second grant on, which one it is. A grant that has ended is never given again under its key. */
export const grantKeyOf = (id: string, round: number): string => (round === 0 ? id : `${id}.${round}`);

/** The document that joins parts (S3 `CompleteMultipartUpload`), in the order of their numbers. */
export function completionDocument(etags: Readonly<Record<number, string>>): string {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const parts = Object.entries(etags).map(
    ([number, etag]) => `<Part><PartNumber>${number}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
}
