import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isNotModified, selectRange } from './conditions.ts';
import { receiveObject, sendDocument, sendEmpty, uploadHeaders, type Exchange } from './exchange.ts';
import { readBytes, type ObjectMeta } from './object-file.ts';
import { parseRequestTarget } from './request-target.ts';
import { S3Error } from './s3-error.ts';
import { element } from './xml.ts';

/** Headers that a signed GET may replace. */
export const responseOverrides = [
  'response-content-type',
  'response-content-language',
  'response-expires',
  'response-cache-control',
  'response-content-disposition',
  'response-content-encoding',
] as const;

export async function putObject(exchange: Exchange): Promise<void> {
  const { request, response, storage, target } = exchange;
  if (request.headers['x-amz-copy-source'] !== undefined) return copyObject(exchange);
  // Refused, not ignored: the client would believe that the condition was checked.
  if (request.headers['if-match'] !== undefined || request.headers['if-none-match'] !== undefined)
    throw new S3Error(501, 'NotImplemented', 'Conditional writes are not supported');
  const meta = await storage.put(target.bucket, target.key, receiveObject(exchange));
  sendEmpty(response, 200, { etag: `"${meta.etag}"` });
}

async function copyObject({ request, response, storage, target, assertMay }: Exchange): Promise<void> {
  const copySource = String(request.headers['x-amz-copy-source']);
  const source = parseRequestTarget(copySource.startsWith('/') ? copySource : `/${copySource}`);
  if (source.key === '' || source.query.size > 0) throw new S3Error(400, 'InvalidArgument', 'The source is not a key');
  assertMay('read', source.key);
  const condition = request.headers['x-amz-copy-source-if-match'];
  const etag = condition === undefined ? undefined : String(condition).replace(/^"(.*)"$/, '$1');
  const headers = request.headers['x-amz-metadata-directive'] === 'REPLACE' ? uploadHeaders(request) : undefined;
  const copy = await storage.copy(source, target, { etag, headers });
  sendDocument(response, 'CopyObjectResult', [
    element('LastModified', new Date(copy.modifiedAtMs).toISOString()),
    element('ETag', `"${copy.etag}"`),
  ]);
}

/** GET and HEAD. */
export async function getObject({ request, response, storage, target }: Exchange): Promise<void> {
  const { handle, meta } = await storage.open(target.bucket, target.key);
  try {
    const identity = { etag: `"${meta.etag}"`, 'last-modified': new Date(meta.modifiedAtMs).toUTCString() };
    if (isNotModified(request.headers, meta)) return sendEmpty(response, 304, identity);
    const range = selectRange(request.headers, meta);
    const { from, to } = range ?? { from: 0, to: meta.sizeBytes };
    response.writeHead(range ? 206 : 200, {
      ...replayedHeaders(meta, target.query),
      ...identity,
      'accept-ranges': 'bytes',
      'content-length': to - from,
      ...(range && { 'content-range': `bytes ${from}-${to - 1}/${meta.sizeBytes}` }),
    });
    if (request.method === 'HEAD') response.end();
    else await pipeline(Readable.from(readBytes(handle, from, to), { objectMode: false }), response);
  } finally {
    await handle.close();
  }
}

function replayedHeaders(meta: ObjectMeta, query: ReadonlyMap<string, string>): Record<string, string> {
  const headers = { ...meta.headers };
  for (const name of responseOverrides) {
    const value = query.get(name);
    if (value !== undefined) headers[name.slice('response-'.length)] = value;
  }
  return headers;
}

export async function deleteObject({ response, storage, target }: Exchange): Promise<void> {
  await storage.remove(target.bucket, target.key);
  sendEmpty(response, 204);
}
