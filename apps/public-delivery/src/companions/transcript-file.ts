import type { ObjectStore } from '@longwave/object-store';
import { decodeTranscript, transcriptContentTypes, type Transcript, type TranscriptFormat } from '@longwave/transcript';
import { drainBody } from '../segments/drain-body.ts';
import { fromStore } from '../http/from-store.ts';

/** A stored transcript. Rejects with `temporarily_unavailable` when the store does not give it. */
export async function readTranscript(store: Pick<ObjectStore, 'get'>, key: string): Promise<Transcript> {
  const chunks: Buffer[] = [];
  const read = async () => drainBody(await store.get(key), (chunk) => void chunks.push(chunk));
  await fromStore(read());
  return decodeTranscript(Buffer.concat(chunks).toString('utf8'));
}

/** The content type of a rendered transcript; JSON is always UTF-8. */
export const transcriptHeader = (format: TranscriptFormat): string =>
  format === 'json' ? transcriptContentTypes[format] : `${transcriptContentTypes[format]}; charset=utf-8`;
