import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
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

/** Answers GET and HEAD with a text that was made for this request, in the coding that the client prefers. */
export async function sendText(
  exchange: Exchange,
  text: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const bytes = Buffer.from(text, 'utf8');
  const digest = createHash('sha256').update(bytes).digest('hex');
  const wanted = chooseCoding(exchange.request.headers['accept-encoding']);
  const coding = bytes.length < minCodedBytes ? 'identity' : wanted;
  const tag = coding === 'identity' ? digest : `${digest}-${coding}`;
  await sendDocument(exchange, await coders[coding](bytes), `"${tag}"`, {
    ...headers,
    vary: 'Accept-Encoding',
    ...(coding !== 'identity' && { 'content-encoding': coding }),
  });
}
