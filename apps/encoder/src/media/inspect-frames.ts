import { holdsItsData, id3v2TagBytes, tryParseFrameHeader, type FrameHeader } from '@longwave/audio';
import type { ByteReader } from './source-structure.ts';

/** Defects of the frames of an MP3 file. */
export interface FrameFaults {
  /** Interruptions of the sequence of frames, and frames that hold less than they announce. */
  readonly brokenPlaces: number;
  /** Time of the first of them. */
  readonly firstAtMs?: number;
  /** The file ends inside of a frame. */
  readonly cutOff: boolean;
}

const windowBytes = 1 << 20;
/** The longest frame, and the header behind it. */
const maxFrameBytes = 1_444;

/** Tags that stand behind the sound: ID3v1, APEv2, Lyrics3. */
const isTrailer = (bytes: Buffer) => /^(TAG|APETAGEX|LYRICSBEGIN)/.test(bytes.toString('latin1', 0, 11));

const isAlike = (a: FrameHeader, b: FrameHeader | undefined) =>
  a.version === b?.version && a.sampleRate === b.sampleRate;

/** Reads a file in large pieces: bytes from `offset` on, at least `maxFrameBytes` unless the file ends. */
function createWindow(reader: ByteReader): (offset: number) => Promise<Buffer> {
  let from = 0;
  let bytes: Buffer = Buffer.alloc(0);
  return async (offset) => {
    if (offset < from || offset + maxFrameBytes + 4 > from + bytes.length) {
      bytes = await reader.read(offset, offset + windowBytes);
      from = offset;
    }
    return bytes.subarray(offset - from);
  };
}

/**
 * Walks the frames of an MP3 file without decoding them, and finds what a decoder passes over: broken places, and the cut end of a file
 * whose length no Xing header states. Bytes before the first frame and unknown ones after the last are no fault.
 */
export async function inspectFrames(reader: ByteReader, signal: AbortSignal): Promise<FrameFaults> {
  const bytesAt = createWindow(reader);
  let [brokenPlaces, timeMs, offset] = [0, 0, 0];
  let firstAtMs: number | undefined;
  /** The frame before; undefined while none is found. */
  let previous: FrameHeader | undefined;
  let isLost = false;
  const count = () => {
    brokenPlaces++;
    firstAtMs ??= timeMs;
  };
  const end = (cutOff: boolean): FrameFaults => ({
    brokenPlaces,
    ...(firstAtMs !== undefined && { firstAtMs: Math.round(firstAtMs) }),
    cutOff,
  });
  while (offset < reader.sizeBytes) {
    signal.throwIfAborted();
    const bytes = await bytesAt(offset);
    const tagBytes = id3v2TagBytes(bytes);
    if (tagBytes > 0) {
      offset += tagBytes;
      continue;
    }
    if (isTrailer(bytes)) break;
    const header = tryParseFrameHeader(bytes);
    const follows = header && previous && !isLost && isAlike(header, previous);
    const isFrame = header && (follows || isAlike(header, tryParseFrameHeader(bytes, header.sizeBytes)));
    if (isFrame) {
      if (bytes.length < header.sizeBytes) return end(true);
      if (isLost) count();
      if (follows && !holdsItsData(bytes, header)) count();
      isLost = false;
      previous = header;
      timeMs += (header.samples * 1000) / header.sampleRate;
      offset += header.sizeBytes;
      continue;
    }
    if (previous && !isLost && bytes.length < 4 && bytes[0] === 0xff) return end(true);
    isLost = previous !== undefined;
    const next = bytes.indexOf(0xff, 1);
    offset += next < 0 ? bytes.length : next;
  }
  return end(false);
}
