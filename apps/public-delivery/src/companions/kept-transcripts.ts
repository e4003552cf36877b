import type { ObjectStore } from '@longwave/object-store';
import type { Transcript } from '@longwave/transcript';
import { LRUCache } from 'lru-cache';
import { readTranscript } from './transcript-file.ts';

/** The longest transcript that can be stored has 15 million characters, one of an hour about 100,000. */
const maxCharacters = 1 << 24;
/** What a cue takes besides its texts. */
const cueCharacters = 64;

/**
 * Reads stored transcripts by their key. They never change: the last ones stay in memory, and concurrent calls share one read. Rejects with
 * `temporarily_unavailable` when the store does not give one.
 */
export function createKeptTranscripts(store: Pick<ObjectStore, 'get'>): (key: string) => Promise<Transcript> {
  const kept = new LRUCache<string, Transcript>({
    maxSize: maxCharacters,
    sizeCalculation: ({ cues }) =>
      cues.reduce((sum, { text, speaker = '' }) => sum + text.length + speaker.length + cueCharacters, 1),
    fetchMethod: (key) => readTranscript(store, key),
    // Who waits gets the transcript, also when it was given up meanwhile.
    ignoreFetchAbort: true,
  });
  return (key) => kept.forceFetch(key);
}
