import type { FrameHeader } from './frame-header.ts';

/** The fields between header (and CRC) and main data that locate the main data. */
export interface SideInfo {
  /** How many bytes before this frame its main data begins: 0 when it needs none of an earlier frame (bit reservoir unused). */
  readonly mainDataBegin: number;
  /** Bits of main data, all granules and channels: the sum of part2_3_length. Ancillary data is not counted. */
  readonly mainDataBits: number;
}

/** Bytes of side information. */
export function sideInfoBytes(header: FrameHeader): number {
  if (header.version === '1') return header.channels === 1 ? 17 : 32;
  return header.channels === 1 ? 9 : 17;
}

/** Bytes from the start of a frame to the first that main data may take, its own or that of later frames. */
export const mainDataOffset = (header: FrameHeader): number => 4 + (header.hasCrc ? 2 : 0) + sideInfoBytes(header);

const lengthBits = 12;

/** `count` ≤ 12 bits of `bytes` from bit `at`, most significant first; beyond the end they are 0. */
function bitsAt(bytes: Uint8Array, at: number, count: number): number {
  const byte = at >> 3;
  const word = ((bytes[byte] ?? 0) << 16) | ((bytes[byte + 1] ?? 0) << 8) | (bytes[byte + 2] ?? 0);
  return (word >> (24 - (at & 7) - count)) & ((1 << count) - 1);
}

/**
 * Side information of the frame at `offset` (ISO/IEC 11172-3 §2.4.1.7, 13818-3 §2.4.1.7). Version 1: main_data_begin (9 bits),
 * private_bits (5 mono, 3 stereo), scfsi (4 per channel), then 2 granules of 59 bits per channel. Version 2: 8 bits, private_bits
 * (1 mono, 2 stereo), then 1 granule of 63 bits per channel. Each granule begins with part2_3_length (12 bits).
 */
export function readSideInfo(bytes: Uint8Array, offset: number, header: FrameHeader): SideInfo {
  const { version, channels, hasCrc } = header;
  const from = (offset + 4 + (hasCrc ? 2 : 0)) * 8;
  const [beginBits, firstGranule, granules, granuleBits] =
    version === '1' ? [9, channels === 1 ? 18 : 20, 2, 59] : [8, channels === 1 ? 9 : 10, 1, 63];
  let mainDataBits = 0;
  for (let i = 0; i < granules * channels; i++)
    mainDataBits += bitsAt(bytes, from + firstGranule + i * granuleBits, lengthBits);
  return { mainDataBegin: bitsAt(bytes, from, beginBits), mainDataBits };
}

/**
 * Whether the main data that the frame at the start of `bytes` announces fits into it and the frames before. A frame that announces more
 * is damaged.
 */
export function holdsItsData(bytes: Uint8Array, header: FrameHeader): boolean {
  const { mainDataBegin, mainDataBits } = readSideInfo(bytes, 0, header);
  return mainDataBits <= (mainDataBegin + header.sizeBytes - mainDataOffset(header)) * 8;
}
