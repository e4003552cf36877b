import { createHash } from 'node:crypto';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import { renderTranscript, transcriptFormats, type TranscriptFormat } from '@longwave/transcript';
import { retimeTranscript } from './retime-transcript.ts';
import { createTimeMap, type Stretch } from '../arrangements/time-map.ts';
import { chaptersContentType, renderChaptersDocument } from './chapters-document.ts';
import type { Companions } from '../projection/content-table.ts';
import { parameter } from '../http/parameter.ts';
import type { Exchange } from '../http/route.ts';
import { sendDocument } from '../http/send-file.ts';
import { readTranscript, transcriptHeader } from './transcript-file.ts';

const formatShape = new RegExp(`^(${transcriptFormats.join('|')})$`);
const languageShape = /^[A-Za-z0-9-]{1,35}$/;

/**
 * The transcript of a language, else of one of its variants ("pt" finds "pt-BR", RFC 4647 §3.3.1); without a language the first.
 */
function choose<T extends { readonly language: string }>(transcripts: readonly T[], wanted: unknown): T | undefined {
  if (wanted === undefined) return transcripts[0];
  if (typeof wanted !== 'string' || !languageShape.test(wanted)) return undefined;
  const range = wanted.toLowerCase();
  return (
    transcripts.find(({ language }) => language.toLowerCase() === range) ??
    transcripts.find(({ language }) => language.toLowerCase().startsWith(`${range}-`))
  );
}

/** Sends bytes that were made for this request; their digest is the tag. */
export function sendMade(exchange: Exchange, bytes: Buffer, contentType: string, cacheControl: string): Promise<void> {
  const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`;
  return sendDocument(exchange, bytes, etag, { 'content-type': contentType, 'cache-control': cacheControl });
}

/** Sends chapters at the times of a file. */
export const sendChapters = (
  exchange: Exchange,
  { chapters }: Pick<Companions, 'chapters'>,
  stretches: readonly Stretch[],
  cacheControl: string,
): Promise<void> =>
  sendMade(exchange, renderChaptersDocument(chapters, createTimeMap(stretches)), chaptersContentType, cacheControl);

/**
 * Sends the transcript in the format of the path and the language of the query (`lang`), at the times of a file. Rejects with
 * `not_found` for a format or language that the episode does not have.
 */
export async function sendTranscript(
  exchange: Exchange,
  store: Pick<ObjectStore, 'get'>,
  { transcripts }: Pick<Companions, 'transcripts'>,
  stretches: readonly Stretch[],
  cacheControl: string,
): Promise<void> {
  const format = parameter(exchange, 'format', formatShape) as TranscriptFormat;
  const chosen = choose(transcripts, exchange.query['lang']);
  if (!chosen) throw new Problem('not_found');
  const transcript = retimeTranscript(await readTranscript(store, chosen.storage_key), stretches);
  const bytes = Buffer.from(renderTranscript(format, transcript), 'utf8');
  await sendMade(exchange, bytes, transcriptHeader(format), cacheControl);
}
