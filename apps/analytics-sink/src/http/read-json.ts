import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Problem } from '@longwave/problems';

/** Most bytes of a body, as it travels and as it is. */
export const bodyBytesMax = 1024 * 1024;

const tooLarge = () => new Problem('payload_too_large', 'A body has at most 1 MiB, compressed or not.');

/** Headers that decide before a byte of the body is read. Throws `unsupported_media_type` or `payload_too_large`. */
export function checkBodyHeaders({ headers }: IncomingMessage): 'gzip' | 'identity' {
  const mediaType = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (mediaType !== 'application/json')
    throw new Problem('unsupported_media_type', 'Send application/json, with gzip if you like.');
  const coding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (coding !== 'gzip' && coding !== 'identity')
    throw new Problem('unsupported_media_type', 'The only content coding is gzip.');
  if (Number(headers['content-length'] ?? 0) > bodyBytesMax) throw tooLarge();
  return coding;
}

/** Passes bytes on until there are too many. */
async function* bounded(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw tooLarge();
    yield chunk;
  }
}

/**
 * The JSON of a body, never holding more than 1 MiB of it: what a gzip stream unpacks to is bounded as it unpacks. Throws
 * `payload_too_large`, or `malformed_json` for what is no gzip, no UTF-8 or no JSON.
 */
export async function readJson(request: IncomingMessage, coding: 'gzip' | 'identity'): Promise<unknown> {
  const chunks: Buffer[] = [];
  const collect = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of bounded(source)) chunks.push(chunk);
  };
  // The request itself is never destroyed: its answer is still to come.
  const sent = bounded(request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>);
  try {
    if (coding === 'gzip') await pipeline(sent, createGunzip(), collect);
    else for await (const chunk of sent) chunks.push(chunk);
  } catch (error) {
    const isGone = request.destroyed && !request.complete;
    if (error instanceof Problem || isGone) throw error;
    throw new Problem('malformed_json', 'The body is not gzip.', { cause: error });
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))) as unknown;
  } catch (cause) {
    throw new Problem('malformed_json', 'The body must be JSON in UTF-8.', { cause });
  }
}
