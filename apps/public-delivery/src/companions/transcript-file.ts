import type { ObjectStore } from '@longwave/object-store';
import {
  decodeTranscript,
  transcriptContentTypes,
  transcriptLimits,
  type Transcript,
  type TranscriptFormat,
} from '@longwave/transcript';
import { readWhole } from '../segments/drain-body.ts';
import { fromStore } from '../http/from-store.ts';

/** The most bytes of a stored transcript: its characters in UTF-8, and times and names of members of each cue. */
const maxBytes = transcriptLimits.characters * 4 + transcriptLimits.cues * 100;

/** A stored transcript. Rejects with `temporarily_unavailable` when the store does not give it, or gives more than one can have. */
export async function readTranscript(store: Pick<ObjectStore, 'get'>, key: string): Promise<Transcript> {
  const read = async () => readWhole(await store.get(key), maxBytes, `the transcript ${key}`);
  return decodeTranscript((await fromStore(read())).toString('utf8'));
}

/** The content type of a rendered transcript; JSON is always UTF-8. */
export const transcriptHeader = (format: TranscriptFormat): string =>
  format === 'json' ? transcriptContentTypes[format] : `${transcriptContentTypes[format]}; charset=utf-8`;
