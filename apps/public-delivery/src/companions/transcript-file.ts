import type { ObjectStore } from '@longwave/object-store';
import {
  decodeTranscript,
  transcriptContentTypes,
  transcriptLimits,
  type Transcript,
  type TranscriptFormat,
} from '@longwave/transcript';
import { drainBody } from '../segments/drain-body.ts';
import { fromStore } from '../http/from-store.ts';

/** The most bytes of a stored transcript: its characters in UTF-8, and times and names of members of each cue. */
const maxBytes = transcriptLimits.characters * 4 + transcriptLimits.cues * 100;

/** A stored transcript. Rejects with `temporarily_unavailable` when the store does not give it, or gives more than one can have. */
export async function readTranscript(store: Pick<ObjectStore, 'get'>, key: string): Promise<Transcript> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the transcript ${key} has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  };
  const read = async () => drainBody(await store.get(key), take);
  await fromStore(read());
  return decodeTranscript(Buffer.concat(chunks).toString('utf8'));
}

/** The content type of a rendered transcript; JSON is always UTF-8. */
export const transcriptHeader = (format: TranscriptFormat): string =>
  format === 'json' ? transcriptContentTypes[format] : `${transcriptContentTypes[format]}; charset=utf-8`;
