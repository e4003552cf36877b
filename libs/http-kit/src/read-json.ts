import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Problem } from '@longwave/problems';
import { boundedBytes, requestBytes } from './read-bytes.ts';

/** The limit of a JSON body, both compressed and not. */
const maxBodyBytes = 1024 * 1024;

const tooLarge = () => new Problem('payload_too_large', 'The body must not exceed 1 MiB, compressed or not.');

const codingOf = ({ headers }: IncomingMessage) => (headers['content-encoding'] ?? 'identity').trim().toLowerCase();

/** Checks the headers of a request with a JSON body, before the body is read. Throws `unsupported_media_type` or `payload_too_large`. */
export function checkBodyHeaders(request: IncomingMessage): void {
  const { headers } = request;
  const mediaType = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (mediaType !== 'application/json')
    throw new Problem('unsupported_media_type', 'Send application/json; gzip compression is optional.');
  if (!['gzip', 'identity'].includes(codingOf(request)))
    throw new Problem('unsupported_media_type', 'The only supported content coding is gzip.');
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge();
}

/**
 * The first name that an object of this JSON text has twice. RFC 8259, section 4, leaves open which of the two members holds. Not
 * recursive: a body may be nested as deep as it is long.
 */
function findRepeatedName(text: string): string | undefined {
  const namesOfOpen: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') namesOfOpen.push(new Set());
    else if (text[at] === '}') namesOfOpen.pop();
    else if (text[at] === '"') {
      const start = at++;
      while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
      let next = at + 1;
      while (/\s/.test(text[next] ?? '')) next++;
      if (text[next] !== ':') continue;
      const name = JSON.parse(text.slice(start, at + 1)) as string;
      const names = namesOfOpen.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}

/**
 * Reads the JSON of a body of at most 1 MiB, whose headers were checked; gzip is bounded while it unpacks. Throws `payload_too_large`, or
 * `malformed_json` when the body is not gzip, UTF-8 or JSON, or an object has a name twice.
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  const collect = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of boundedBytes(source, maxBodyBytes, tooLarge)) chunks.push(chunk);
  };
  const sent = requestBytes(request, maxBodyBytes, tooLarge);
  try {
    if (codingOf(request) === 'gzip') await pipeline(sent, createGunzip(), collect);
    else await collect(sent);
  } catch (error) {
    const isGone = request.destroyed && !request.complete;
    if (error instanceof Problem || isGone) throw error;
    throw new Problem('malformed_json', 'The body is not valid gzip.', { cause: error });
  }
  let text: string;
  let body: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    body = JSON.parse(text);
  } catch (cause) {
    throw new Problem('malformed_json', 'The body must be JSON in UTF-8.', { cause });
  }
  const twice = findRepeatedName(text);
  if (twice !== undefined)
    throw new Problem('malformed_json', `An object in the body has the field “${twice.slice(0, 100)}” twice.`);
  return body;
}
