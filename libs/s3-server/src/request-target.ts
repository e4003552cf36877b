import { S3Error } from './s3-error.ts';

/** The parsed request target: bucket and key in path style, nothing normalised (`a/../b` is a key like any other). */
export interface RequestTarget {
  /** Decoded. */
  readonly path: string;
  /** Empty for the service itself. */
  readonly bucket: string;
  /** Empty for the bucket itself. */
  readonly key: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly query: ReadonlyMap<string, string>;
}

const maxKeySizeBytes = 1024;

/** @throws S3Error 400 when the URL is not valid percent-encoded UTF-8, repeats a parameter or names a key over 1024 bytes */
export function parseRequestTarget(url: string): RequestTarget {
  const questionMark = url.indexOf('?');
  const path = decode(questionMark < 0 ? url : url.slice(0, questionMark));
  if (!path.startsWith('/')) throw new S3Error(400, 'InvalidURI', 'The path must start with a slash');
  const parameters = (questionMark < 0 ? '' : url.slice(questionMark + 1))
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.replaceAll('+', ' ').split('=');
      return [decode(name), decode(value.join('='))] as const;
    });
  const query = new Map(parameters);
  if (query.size !== parameters.length) throw new S3Error(400, 'InvalidArgument', 'A parameter is given twice');
  const slash = path.indexOf('/', 1);
  const key = slash < 0 ? '' : path.slice(slash + 1);
  return { path, bucket: path.slice(1, slash < 0 ? undefined : slash), key: parseKey(key), parameters, query };
}

/** The key itself. @throws S3Error 400 when it is longer than S3 allows */
export function parseKey(key: string): string {
  if (Buffer.byteLength(key) > maxKeySizeBytes) throw new S3Error(400, 'KeyTooLongError', 'The key is too long');
  return key;
}

/** RFC 3986 percent-encoding of everything but unreserved characters, as Signature Version 4 wants it. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error(400, 'InvalidURI', 'The URL is not percent-encoded UTF-8');
  }
}
