import { tryParseFrameHeader, type FrameHeader } from './frame-header.ts';
import { mainDataOffset } from './side-info.ts';

const ascii = (bytes: Uint8Array, from: number, length: number) =>
  Buffer.from(bytes.subarray(from, from + length)).toString('latin1');
const syncSafe = (bytes: Uint8Array, at: number) =>
  (bytes[at]! << 21) | (bytes[at + 1]! << 14) | (bytes[at + 2]! << 7) | bytes[at + 3]!;

/** Size of the ID3v2 tag at `offset`, header and footer included; 0 when there is none (id3.org, ID3v2.4.0 §3.1). */
export function id3v2TagBytes(bytes: Uint8Array, offset = 0): number {
  if (offset + 10 > bytes.length || ascii(bytes, offset, 3) !== 'ID3') return 0;
  for (let i = 6; i < 10; i++) if (bytes[offset + i]! & 0x80) return 0;
  const hasFooter = (bytes[offset + 5]! & 0x10) !== 0;
  return 10 + syncSafe(bytes, offset + 6) + (hasFooter ? 10 : 0);
}

/** The part of an MP3 file between its tags: after ID3v2, before ID3v1 and APEv2. Offsets are half-open. */
export function audioExtent(bytes: Uint8Array): { readonly from: number; readonly to: number } {
  let from = 0;
  for (let size = id3v2TagBytes(bytes); size > 0; size = id3v2TagBytes(bytes, from))
    from = Math.min(bytes.length, from + size);
  let to = bytes.length;
  if (to - from >= 128 && ascii(bytes, to - 128, 3) === 'TAG') to -= 128;
  if (to - from >= 32 && ascii(bytes, to - 32, 8) === 'APETAGEX') {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const hasHeader = (view.getUint32(to - 12, true) & 0x8000_0000) !== 0;
    to = Math.max(from, to - view.getUint32(to - 20, true) - (hasHeader ? 32 : 0));
  }
  return { from, to };
}

/** The silent first frame in which an encoder describes the whole file. */
export interface VbrHeader {
  readonly kind: 'Xing' | 'Info' | 'VBRI';
  /** Frames that follow the header frame. */
  readonly frames?: number;
  /** Size of all frames, the header frame included. */
  readonly sizeBytes?: number;
  /** Samples to skip at the start and end, from LAME's extension. */
  readonly encoderDelay?: number;
  readonly encoderPadding?: number;
}

/** The Xing, Info or VBRI header inside the frame at `offset`, or undefined for a frame of sound. */
export function tryParseVbrHeader(bytes: Uint8Array, offset: number, header: FrameHeader): VbrHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const has = (at: number, length: number) => at + length <= bytes.length;
  const vbri = offset + 36;
  if (has(vbri, 18) && ascii(bytes, vbri, 4) === 'VBRI')
    return { kind: 'VBRI', sizeBytes: view.getUint32(vbri + 10), frames: view.getUint32(vbri + 14) };
  const start = offset + mainDataOffset(header);
  const kind = has(start, 8) ? ascii(bytes, start, 4) : '';
  if (kind !== 'Xing' && kind !== 'Info') return undefined;
  const flags = view.getUint32(start + 4);
  let at = start + 8;
  const optional = (flag: number, length: number) => {
    if (!(flags & flag) || !has(at, length)) return undefined;
    at += length;
    return view.getUint32(at - length);
  };
  const frames = optional(1, 4);
  const sizeBytes = optional(2, 4);
  optional(4, 100);
  optional(8, 4);
  const lame = has(at, 24) && /^(LAME|Lavc|Lavf)/.test(ascii(bytes, at, 4));
  return {
    kind,
    ...(frames !== undefined && { frames }),
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(lame && {
      encoderDelay: (bytes[at + 21]! << 4) | (bytes[at + 22]! >> 4),
      encoderPadding: ((bytes[at + 22]! & 15) << 8) | bytes[at + 23]!,
    }),
  };
}

/** Only the frames of sound: no ID3v2, ID3v1, APE and no Xing, Info or VBRI frame. A view, not a copy. */
export function stripTags(bytes: Uint8Array): Uint8Array {
  const { from, to } = audioExtent(bytes);
  const header = tryParseFrameHeader(bytes, from);
  const skip = header && tryParseVbrHeader(bytes, from, header) ? header.sizeBytes : 0;
  return bytes.subarray(Math.min(from + skip, to), to);
}
