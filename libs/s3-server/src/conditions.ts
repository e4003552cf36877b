import type { ObjectMeta } from './object-file.ts';
import { S3Error } from './s3-error.ts';

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

const text = (headers: RequestHeaders, name: string) => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

const names = (list: string, etag: string) =>
  list.trim() === '*' ||
  list.split(',').some(
    (entry) =>
      entry
        .trim()
        .replace(/^W\//, '')
        .replace(/^"(.*)"$/, '$1') === etag,
  );

/** HTTP dates have whole seconds. */
const modifiedAfter = (meta: ObjectMeta, date: string) =>
  Math.floor(meta.modifiedAtMs / 1000) * 1000 > Date.parse(date);

/**
 * Preconditions of a GET or HEAD in the order of RFC 9110 §13.2.2.
 * @returns true when the client's copy is current (304)
 * @throws S3Error 412
 */
export function isNotModified(headers: RequestHeaders, meta: ObjectMeta): boolean {
  const ifMatch = text(headers, 'if-match');
  const ifUnmodified = text(headers, 'if-unmodified-since');
  const failed =
    ifMatch === undefined
      ? ifUnmodified !== undefined && modifiedAfter(meta, ifUnmodified)
      : !names(ifMatch, meta.etag);
  if (failed) throw new S3Error(412, 'PreconditionFailed');
  const ifNoneMatch = text(headers, 'if-none-match');
  if (ifNoneMatch !== undefined) return names(ifNoneMatch, meta.etag);
  const ifModified = text(headers, 'if-modified-since');
  return ifModified !== undefined && !Number.isNaN(Date.parse(ifModified)) && !modifiedAfter(meta, ifModified);
}

/** Half-open byte interval [from, to). */
export interface ByteInterval {
  readonly from: number;
  readonly to: number;
}

/**
 * The one range of a GET or HEAD (RFC 9110 §14.2), or undefined for the whole object: no range, several ranges,
 * another unit, or an `If-Range` that names another version.
 * @throws S3Error 416 when the object has no byte of the range
 */
export function selectRange(headers: RequestHeaders, meta: ObjectMeta): ByteInterval | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(text(headers, 'range') ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  const ifRange = text(headers, 'if-range');
  if (ifRange !== undefined && ifRange !== `"${meta.etag}"`) return undefined;
  const size = meta.sizeBytes;
  const [first, last] = [match[1] ?? '', match[2] ?? ''];
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  if (from >= to)
    throw new S3Error(416, 'InvalidRange', 'The range is outside the file', { 'content-range': `bytes */${size}` });
  return { from, to };
}
