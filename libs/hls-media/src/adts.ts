import { framesOfChunks } from '@longwave/audio';
import { aacTrack } from './aac-track.ts';

/** The stream holds bytes that are no frame of the one format, or ends inside a frame. */
export class AdtsError extends Error {
  readonly reason: 'not_a_frame' | 'cut_frame' | 'other_parameters';
  /** Position in the stream. */
  readonly offset: number;

  constructor(reason: 'not_a_frame' | 'cut_frame' | 'other_parameters', offset: number) {
    const text = {
      not_a_frame: 'no frame',
      cut_frame: 'a cut frame',
      other_parameters: 'a frame of another format',
    }[reason];
    super(`${text} at byte ${offset}`);
    this.name = 'AdtsError';
    this.reason = reason;
    this.offset = offset;
  }
}

/** Without its CRC, which is two bytes more. */
const headerBytes = 7;
/** 48 kHz in the list of sampling frequencies (ISO/IEC 14496-3 §1.6.3.4). */
const samplingFrequencyIndex = 3;
/** AAC-LC, as ADTS counts object types. */
const profile = 1;

/** One frame of a stream; views that are valid until the next one is asked for. */
interface AdtsFrame {
  /** With its header. */
  readonly bytes: Uint8Array;
  /** What a decoder gets. */
  readonly sound: Uint8Array;
}

function frameAt(bytes: Uint8Array, at: number, offset: number): AdtsFrame | undefined {
  if (bytes.length - at < headerBytes) return undefined;
  const byte = (index: number) => bytes[at + index]!;
  if (byte(0) !== 0xff || (byte(1) & 0xf6) !== 0xf0) throw new AdtsError('not_a_frame', offset);
  const channels = ((byte(2) & 1) << 2) | (byte(3) >> 6);
  const hasOneBlock = (byte(6) & 3) === 0;
  const isOurs = byte(2) >> 6 === profile && ((byte(2) >> 2) & 15) === samplingFrequencyIndex;
  if (!isOurs || channels !== aacTrack.channels || !hasOneBlock) throw new AdtsError('other_parameters', offset);
  const length = ((byte(3) & 3) << 11) | (byte(4) << 3) | (byte(5) >> 5);
  const soundFrom = (byte(1) & 1) === 1 ? headerBytes : headerBytes + 2;
  if (length <= soundFrom) throw new AdtsError('not_a_frame', offset);
  if (at + length > bytes.length) return undefined;
  return { bytes: bytes.subarray(at, at + length), sound: bytes.subarray(at + soundFrom, at + length) };
}

/**
 * The frames of an ADTS stream (ISO/IEC 14496-3 annex 1.A). Holds at most one chunk and one frame. Throws `AdtsError` for anything but
 * AAC-LC, 48 kHz, stereo.
 */
export const readAdtsFrames = (
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<AdtsFrame, void> => framesOfChunks(chunks, frameAt, (offset) => new AdtsError('cut_frame', offset));
