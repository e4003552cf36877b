import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { maxSinglePutBytes } from '@longwave/object-store/limits';
import type { Action } from './permissions.ts';
import type { RequestTarget } from './request-target.ts';
import { S3Error } from './s3-error.ts';
import type { NewObject, Storage } from './storage.ts';
import type { Uploads } from './uploads.ts';
import { xmlDocument, type Markup } from './xml.ts';

/** One request whose signature was verified and whose key has the permission of its route. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: RequestTarget;
  /** Lower-case hex; undefined when the body is not signed. */
  readonly payloadSha256: string | undefined;
  /** Throws S3Error 403 when the key that signed may not do that with the object of that name. */
  readonly assertMay: (action: Action, name: string) => void;
  readonly storage: Storage;
  readonly uploads: Uploads;
  readonly region: string;
}

const maxDocumentSizeBytes = 4 * 1024 ** 2;

/** Headers of an upload that belong to the object. */
const objectHeaders = [
  'content-type',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'expires',
];

/**
 * The body of a PUT with its announced size and checksums. A failure while it is read leaves the connection open for the answer.
 * @throws S3Error 411 without a length, 400 above S3's 5 GiB or with a malformed checksum
 */
export function receiveObject(exchange: Exchange): NewObject {
  const { request, payloadSha256 } = exchange;
  const length = request.headers['content-length'];
  if (length === undefined) throw new S3Error(411, 'MissingContentLength', 'Content-Length is required');
  if (Number(length) > maxSinglePutBytes)
    throw new S3Error(400, 'EntityTooLarge', 'One PUT takes at most 5 GiB. Send a larger file in parts.');
  const md5 = request.headers['content-md5'];
  return {
    body: request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>,
    headers: uploadHeaders(request),
    claims: {
      sizeBytes: Number(length),
      payloadSha256,
      md5: typeof md5 === 'string' ? md5 : undefined,
      checksumSha256: checksumOf(request),
    },
  };
}

/** SHA-256 of the body in base64, as the client claims it. @throws S3Error 400 when it is malformed */
function checksumOf({ headers }: IncomingMessage): string | undefined {
  const value = headers['x-amz-checksum-sha256'];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/]{43}=$/.test(value))
    throw new S3Error(400, 'InvalidRequest', 'Value for x-amz-checksum-sha256 header is invalid.');
  return value;
}

/** @throws S3Error 501 for encryption, which this server does not do */
export function uploadHeaders(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/octet-stream' };
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith('x-amz-server-side-encryption'))
      throw new S3Error(501, 'NotImplemented', `${name} is not supported`);
    if (typeof value === 'string' && (objectHeaders.includes(name) || name.startsWith('x-amz-meta-')))
      headers[name] = value;
  }
  return headers;
}

/** A small request document. @throws S3Error 400 when it is too long or another than the signed one */
export async function receiveDocument({ request, payloadSha256 }: Exchange): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxDocumentSizeBytes) throw new S3Error(400, 'EntityTooLarge');
    chunks.push(chunk);
  }
  const document = Buffer.concat(chunks);
  if (payloadSha256 !== undefined && createHash('sha256').update(document).digest('hex') !== payloadSha256)
    throw new S3Error(400, 'XAmzContentSHA256Mismatch');
  return document.toString('utf8');
}

export function sendDocument(response: ServerResponse, root: string, content: readonly Markup[], status = 200): void {
  const body = Buffer.from(xmlDocument(root, content));
  response.writeHead(status, { 'content-type': 'application/xml', 'content-length': body.length }).end(body);
}

export function sendEmpty(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, status === 204 || status === 304 ? headers : { 'content-length': '0', ...headers }).end();
}
