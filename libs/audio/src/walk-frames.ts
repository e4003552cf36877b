import { tryParseFrameHeader, type FrameHeader } from './frame-header.ts';
import { framesOfChunks } from './frames-of-chunks.ts';
import { readSideInfo, type SideInfo } from './side-info.ts';

/** One frame of a stream of frames. */
export interface Frame {
  /** Position in the stream. */
  readonly offset: number;
  readonly header: FrameHeader;
  readonly sideInfo: SideInfo;
  /** A view, valid until the next frame is asked for. */
  readonly bytes: Uint8Array;
}

/** The stream holds bytes that are no frame, or ends inside a frame. */
export class FrameError extends Error {
  readonly reason: 'not_a_frame' | 'cut_frame';
  /** Position in the stream. */
  readonly offset: number;

  constructor(reason: 'not_a_frame' | 'cut_frame', offset: number) {
    super(reason === 'cut_frame' ? `the frame at byte ${offset} is cut` : `no frame at byte ${offset}`);
    this.name = 'FrameError';
    this.reason = reason;
    this.offset = offset;
  }
}

function frameAt(bytes: Uint8Array, at: number, offset: number): Frame | undefined {
  const header = tryParseFrameHeader(bytes, at);
  if (!header) {
    if (bytes.length - at < 4) return undefined;
    throw new FrameError('not_a_frame', offset);
  }
  if (at + header.sizeBytes > bytes.length) return undefined;
  return {
    offset,
    header,
    sideInfo: readSideInfo(bytes, at, header),
    bytes: bytes.subarray(at, at + header.sizeBytes),
  };
}

/** The frames of `bytes`, which must hold frames only (see `stripTags`). Throws `FrameError` at the first byte that begins none. */
export function* walkFrames(bytes: Uint8Array): Generator<Frame, void> {
  for (let at = 0; at < bytes.length;) {
    const frame = frameAt(bytes, at, at);
    if (!frame) throw new FrameError('cut_frame', at);
    yield frame;
    at += frame.bytes.length;
  }
}

/** `walkFrames` over chunks of any sizes, holding at most one chunk and one frame. */
export const walkFrameChunks = (
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Frame, void> => framesOfChunks(chunks, frameAt, (offset) => new FrameError('cut_frame', offset));
