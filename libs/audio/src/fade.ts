import { bytesOfFrames, canonicalFormat } from './canonical.ts';

/** Side information begins behind the header; a frame of two channels has two granules (ISO/IEC 11172-3 §2.4.1.7). */
const sideInfoBit = 4 * 8;
const granules = 2;
/** main_data_begin, private_bits and scfsi; then 59 bits for each channel of each granule: part2_3_length, big_values, global_gain … */
const firstGranuleBit = sideInfoBit + 20;
const granuleBits = 59;
const gainBit = 12 + 9;
/** One step of global_gain is a factor of 2^(1/4). */
const stepDb = 20 * Math.log10(2 ** 0.25);
/** As good as silent. */
const quietestDb = -60;

/** Lowers an eight-bit number that begins at any bit; not below 0. */
function lower(bytes: Buffer, bit: number, steps: number): void {
  const [at, shift] = [bit >> 3, 8 - (bit & 7)];
  const pair = (bytes[at]! << 8) | bytes[at + 1]!;
  const value = (pair >> shift) & 0xff;
  const changed = (pair & ~(0xff << shift)) | (Math.max(0, value - steps) << shift);
  bytes[at] = changed >> 8;
  bytes[at + 1] = changed & 0xff;
}

/**
 * Canonical frames that fade in from silence, or out to it, within their whole length: the same frames with another gain in each
 * granule of 12 ms, so that nothing is decoded or encoded and no size changes.
 * @param frames whole canonical frames
 */
export function fadeFrames(frames: Uint8Array, direction: 'in' | 'out'): Buffer {
  const faded = Buffer.from(frames);
  const count = faded.length / canonicalFormat.frameSizeBytes;
  for (let granule = 0; granule < count * granules; granule++) {
    const passed = (granule + 0.5) / (count * granules);
    const level = direction === 'in' ? passed : 1 - passed;
    const steps = Math.round(-Math.max(quietestDb, 20 * Math.log10(level)) / stepDb);
    const frameBit = bytesOfFrames(Math.floor(granule / granules)) * 8;
    for (let channel = 0; channel < canonicalFormat.channels; channel++) {
      const index = (granule % granules) * canonicalFormat.channels + channel;
      lower(faded, frameBit + firstGranuleBit + index * granuleBits + gainBit, steps);
    }
  }
  return faded;
}
