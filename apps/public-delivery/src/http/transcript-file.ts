import type { ObjectStore } from '@longwave/object-store';
import { decodeTranscript, transcriptContentTypes, type Transcript, type TranscriptFormat } from '@longwave/transcript';
import { drainBody } from '../media/drain-body.ts';

/** A stored transcript. Rejects when the store does not have it. */
export async function readTranscript(store: Pick<ObjectStore, 'get'>, key: string): Promise<Transcript> {
  const chunks: Buffer[] = [];
  await drainBody(await store.get(key), (chunk) => void chunks.push(chunk));
  return decodeTranscript(Buffer.concat(chunks).toString('utf8'));
}

/** The content type of a rendered transcript; JSON is always UTF-8. */
export const transcriptHeader = (format: TranscriptFormat): string =>
  format === 'json' ? transcriptContentTypes[format] : `${transcriptContentTypes[format]}; charset=utf-8`;
