import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { readAll, type GuardedFetch } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import { isProblem } from '@longwave/problems';
import { createGate } from '@longwave/service-kit';
import { TranscriptError, transcriptLimits } from '@longwave/transcript';
import { storeDocument, transcriptDocument, type TranscriptDocument } from '../../workspace/transcript-document.ts';
import { hexOf, type Snapshot } from './snapshot.ts';

type Caption = NonNullable<Snapshot['content']['episode']['captions']>[number];
type Note = NonNullable<Snapshot['notes']>[number];

/** Captions that are taken over, and notes about those that cannot be. */
interface TakenCaptions {
  readonly transcripts: NonNullable<Snapshot['transcripts']>;
  readonly notes: Note[];
}

/** Time for each file, and for those of one version together: a host that is away holds up one slot of the mapping for no longer. */
const usualLimits = { eachMs: 10_000, allMs: 30_000 };
const filesAtOnce = 4;
const maxBytes = transcriptLimits.characters * 4;

const note = (code: string, { lang }: Caption, detail: string): Note => ({
  code,
  detail: `The captions in “${lang}” are left out. ${detail}`.slice(0, 1000),
});

interface Attempt {
  readonly fetch: GuardedFetch;
  /** Time that is left for this file. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The bytes behind an address, or why there are none. */
async function fetchBytes(url: string, { fetch, timeoutMs, signal }: Attempt): Promise<Buffer | string> {
  if (timeoutMs <= 0) return 'The files before took all the time that the captions of a version have.';
  try {
    using response = await fetch(url, { maxBytes, timeoutMs, signal });
    return response.status === 200 ? await readAll(response) : `The host answers with ${response.status}.`;
  } catch (error) {
    if (!isProblem(error, 'media_not_fetchable')) throw error;
    return error.message;
  }
}

async function readCaption(caption: Caption, attempt: Attempt): Promise<TranscriptDocument | Note> {
  const bytes = await fetchBytes(caption.url, attempt);
  if (typeof bytes === 'string') return note('captions_not_fetchable', caption, bytes);
  if (createHash('sha256').update(bytes).digest('hex') !== hexOf(caption.digest))
    return note('captions_not_as_declared', caption, 'The file has another digest than its platform has signed.');
  if (!isUtf8(bytes)) return note('captions_not_readable', caption, 'The file is not UTF-8 text.');
  const text = new TextDecoder().decode(bytes);
  try {
    return transcriptDocument({ language: caption.lang, format: text.startsWith('WEBVTT') ? 'vtt' : 'srt' }, text);
  } catch (error) {
    if (!(error instanceof TranscriptError)) throw error;
    return note('captions_not_readable', caption, error.message);
  }
}

/**
 * Fetches captions (WebVTT or SubRip), a few at a time, compares their digests and stores their documents. A file that cannot be taken over
 * is noted; it holds up nothing else. The order is that of the captions.
 */
export async function takeCaptions(
  { fetch, store }: { readonly fetch: GuardedFetch; readonly store: ObjectStore },
  captions: readonly Caption[],
  signal: AbortSignal,
  { eachMs, allMs } = usualLimits,
): Promise<TakenCaptions> {
  const gate = createGate(filesAtOnce);
  const endsAt = performance.now() + allMs;
  const take = async (caption: Caption) => {
    const timeoutMs = Math.min(eachMs, Math.ceil(endsAt - performance.now()));
    const read = await readCaption(caption, { fetch, timeoutMs, signal });
    if (!('code' in read)) await storeDocument(store, read);
    return read;
  };
  const all = await Promise.all(captions.map((caption) => gate(() => take(caption))));
  return {
    transcripts: all.flatMap((read) => ('code' in read ? [] : [read.stored])),
    notes: all.filter((read) => 'code' in read),
  };
}
