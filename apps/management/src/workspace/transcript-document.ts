import { createHash } from 'node:crypto';
import type { Attributes } from '@longwave/command-catalog';
import type { ObjectStore } from '@longwave/object-store';
import { encodeTranscript, parseTranscript, type TranscriptFormat } from '@longwave/transcript';

type StoredTranscript = NonNullable<Attributes<'episodes'>['transcripts']>[number];

/** A parsed transcript as it is stored, under its digest. */
export interface TranscriptDocument {
  readonly body: Buffer;
  readonly stored: StoredTranscript;
}

/** The document of a transcript file. Throws `TranscriptError`, which names the line and the fault. */
export function transcriptDocument(
  file: { readonly language: string; readonly format: TranscriptFormat; readonly captions?: boolean | undefined },
  text: string,
): TranscriptDocument {
  const transcript = parseTranscript(file.format, text);
  const body = Buffer.from(encodeTranscript(transcript));
  const sha256 = createHash('sha256').update(body).digest('hex');
  return {
    body,
    stored: {
      language: file.language,
      // JSON transcripts are mostly timed by the word, too fine to be read as captions.
      captions: file.captions ?? file.format !== 'json',
      storage_key: `transcripts/${sha256}`,
      sha256,
      size_bytes: body.length,
      cue_count: transcript.cues.length,
    },
  };
}

export const storeDocument = (store: ObjectStore, { body, stored }: TranscriptDocument): Promise<unknown> =>
  store.put(stored.storage_key, body, { contentType: 'application/json', sizeBytes: body.length });
