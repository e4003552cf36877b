import type { SourceInfo } from './inspect-source.ts';
import { inspectFrames } from './inspect-frames.ts';
import type { ByteReader } from './source-structure.ts';

/** A fault of a source that can be encoded nevertheless, for the podcaster. */
export interface MediaWarning {
  readonly code: 'media_damaged' | 'media_cut_off';
  readonly detail: string;
  readonly places?: number;
}

const clock = (ms: number) => new Date(ms).toISOString().slice(11, 19);

/**
 * The faults of a source that was decoded to its end.
 * @param decodeErrors packets that could not be decoded
 */
export async function findWarnings(
  reader: ByteReader,
  { container, codec }: SourceInfo,
  decodeErrors: number,
  signal: AbortSignal,
): Promise<MediaWarning[]> {
  const isMp3 = container === 'mp3' && codec.startsWith('mp3');
  const { brokenPlaces, firstAtMs, cutOff } = isMp3
    ? await inspectFrames(reader, signal)
    : { brokenPlaces: 0, firstAtMs: undefined, cutOff: false };
  // One broken place may cost a decoder several packets, or none.
  const places = brokenPlaces || decodeErrors;
  const found: MediaWarning[] = [];
  if (places > 0) {
    const where = places === 1 ? 'one place' : `${places} places`;
    const first = firstAtMs === undefined ? '' : `, the first at ${clock(firstAtMs)}`;
    const detail = `The file is damaged in ${where}${first}. Sound may be missing there, or noise may be heard. Check the original and upload it again.`;
    found.push({ code: 'media_damaged', detail, places });
  }
  if (cutOff) {
    const detail =
      'The file ends in the middle of an audio frame, so its end may be missing. Compare its length with that of the original.';
    found.push({ code: 'media_cut_off', detail });
  }
  return found;
}
