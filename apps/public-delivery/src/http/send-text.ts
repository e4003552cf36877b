import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { evaluateConditions } from '@longwave/http-kit';
import { chooseCoding, type ContentCoding } from './choose-coding.ts';
import type { Exchange } from './route.ts';
import { sendDocument } from './send-file.ts';

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);
/** Shorter texts are not worth it: they fit into one packet as they are. */
const minCodedBytes = 1_000;
/** Of eleven: about as fast as gzip, and shorter. */
const brotliQuality = 4;

const coders: Readonly<Record<ContentCoding, (bytes: Buffer) => Promise<Buffer>>> = {
  identity: async (bytes) => bytes,
  gzip: zip,
  br: (bytes) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
};

/** A text to send, with what is made of it. */
export interface PreparedText {
  readonly bytes: Buffer;
  /** SHA-256 as hexadecimal digits. */
  readonly digest: string;
  /** The text in a coding, which is made when it is first asked for, and once. */
  readonly coded: (coding: ContentCoding) => Promise<Buffer>;
}

/** For a text that is sent more than once; its codings take at most about twice its bytes. */
export function prepareText(text: string): PreparedText {
  const bytes = Buffer.from(text, 'utf8');
  const made = new Map<ContentCoding, Promise<Buffer>>();
  const coded = (coding: ContentCoding) => {
    const known = made.get(coding) ?? coders[coding](bytes);
    made.set(coding, known);
    return known;
  };
  return { bytes, digest: createHash('sha256').update(bytes).digest('hex'), coded };
}

/** Answers GET and HEAD with a text, in the coding that the client prefers; for 304 and 412 it is not compressed. */
export async function sendText(
  exchange: Exchange,
  text: string | PreparedText,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const { headers: asked } = exchange.request;
  const { bytes, digest, coded } = typeof text === 'string' ? prepareText(text) : text;
  const coding = bytes.length < minCodedBytes ? 'identity' : chooseCoding(asked['accept-encoding']);
  const etag = `"${coding === 'identity' ? digest : `${digest}-${coding}`}"`;
  const isSent = evaluateConditions(asked, { etag, modifiedAt: undefined }) === 'holds';
  await sendDocument(exchange, isSent ? await coded(coding) : bytes, etag, {
    ...headers,
    vary: 'Accept-Encoding',
    ...(coding !== 'identity' && { 'content-encoding': coding }),
  });
}
