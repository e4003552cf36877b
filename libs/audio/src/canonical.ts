import { mainDataOffset } from './side-info.ts';
import { FrameError, walkFrameChunks, walkFrames, type Frame } from './walk-frames.ts';

/** The one stream format of stored segments, so that any two can be joined at any frame: MP3, CBR, no bit reservoir, no tags. */
export const canonicalFormat = Object.freeze({
  name: 'mp3/128000/48000/2',
  bitrate: 128_000,
  sampleRate: 48_000,
  channels: 2,
  frameSizeBytes: 384,
  frameSamples: 1152,
  frameMs: 24,
  contentType: 'audio/mpeg',
});

/** MPEG 1 Layer III, no CRC, 128 kbit/s, 48 kHz, no padding, joint stereo, original; mode extension varies by frame. */
export const canonicalWord = 0xfffb_9444;
const fixedBits = 0xffff_ffcf;

type FrameViolation = 'other_parameters' | 'bit_reservoir_used' | 'main_data_too_long';
type CanonicalViolation = 'no_frames' | 'not_a_frame' | 'cut_frame' | FrameViolation;

export type CanonicalCheck =
  | { readonly canonical: true; readonly frames: number; readonly sizeBytes: number; readonly durationMs: number }
  | { readonly canonical: false; readonly violation: CanonicalViolation; readonly offset: number };

/**
 * Why a frame is not allowed in a canonical segment; undefined when it is. Each frame holds all of its own main data and no other, so
 * that any frame may follow any.
 */
export function canonicalViolation({ header, sideInfo }: Frame): FrameViolation | undefined {
  if ((header.word & fixedBits) >>> 0 !== canonicalWord) return 'other_parameters';
  if (sideInfo.mainDataBegin !== 0) return 'bit_reservoir_used';
  const room = (header.sizeBytes - mainDataOffset(header)) * 8;
  return sideInfo.mainDataBits <= room ? undefined : 'main_data_too_long';
}

const verdict = (frames: number): CanonicalCheck =>
  frames === 0
    ? { canonical: false, violation: 'no_frames', offset: 0 }
    : { canonical: true, frames, sizeBytes: bytesOfFrames(frames), durationMs: durationMsOfFrames(frames) };

const refused = (error: unknown): CanonicalCheck => {
  if (error instanceof FrameError) return { canonical: false, violation: error.reason, offset: error.offset };
  throw error;
};

/** Checks that the bytes are a canonical segment; answers the first violation. */
export function checkCanonical(bytes: Uint8Array): CanonicalCheck {
  try {
    let frames = 0;
    for (const frame of walkFrames(bytes)) {
      const violation = canonicalViolation(frame);
      if (violation) return { canonical: false, violation, offset: frame.offset };
      frames++;
    }
    return verdict(frames);
  } catch (error) {
    return refused(error);
  }
}

/** `checkCanonical` over a stream. */
export async function checkCanonicalChunks(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<CanonicalCheck> {
  try {
    let frames = 0;
    for await (const frame of walkFrameChunks(chunks)) {
      const violation = canonicalViolation(frame);
      if (violation) return { canonical: false, violation, offset: frame.offset };
      frames++;
    }
    return verdict(frames);
  } catch (error) {
    return refused(error);
  }
}

/** Frames that hold `samples` samples per channel, the last one filled up with silence. */
export const framesOfSamples = (samples: number): number => Math.ceil(samples / canonicalFormat.frameSamples);

/** Exact: a frame lasts 24 ms. */
export const durationMsOfFrames = (frames: number): number => frames * canonicalFormat.frameMs;

export const bytesOfFrames = (frames: number): number => frames * canonicalFormat.frameSizeBytes;

/** Whole frames in `sizeBytes`. Throws `RangeError` when the size is not a whole number of frames. */
export function framesOfBytes(sizeBytes: number): number {
  if (!Number.isInteger(sizeBytes / canonicalFormat.frameSizeBytes))
    throw new RangeError(`${sizeBytes} bytes are not whole frames`);
  return sizeBytes / canonicalFormat.frameSizeBytes;
}

/** Duration of a canonical segment of `sizeBytes`. Throws `RangeError` when the size is not a whole number of frames. */
export const durationMsOfBytes = (sizeBytes: number): number => durationMsOfFrames(framesOfBytes(sizeBytes));

/** Index of the frame that sounds at `timeMs` (≥ 0). */
export const frameAtTime = (timeMs: number): number => Math.floor(timeMs / canonicalFormat.frameMs);

/** Index of the frame boundary nearest to `timeMs` (≥ 0): where a cue point cuts. */
export const nearestFrameBoundary = (timeMs: number): number => Math.round(timeMs / canonicalFormat.frameMs);

/** Byte at which the frame sounding at `timeMs` begins. */
export const byteOffsetAtTime = (timeMs: number): number => bytesOfFrames(frameAtTime(timeMs));

/** Time at which the frame holding byte `offset` begins. */
export const timeMsAtByte = (offset: number): number =>
  durationMsOfFrames(Math.floor(offset / canonicalFormat.frameSizeBytes));
