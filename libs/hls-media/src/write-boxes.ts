import { aacTrack } from './aac-track.ts';

const u16 = (...values: readonly number[]) => {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => bytes.writeUInt16BE(value, index * 2));
  return bytes;
};

const u32 = (...values: readonly number[]) => {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4));
  return bytes;
};

const text = (value: string) => Buffer.from(value, 'latin1');
const zeros = (bytes: number) => Buffer.alloc(bytes);

/** A box of ISO/IEC 14496-12 §4.2. */
function box(type: string, ...contents: readonly Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([u32(body.length + 8), text(type), body]);
}

const fullBox = (type: string, flags: number, ...contents: readonly Buffer[]) => box(type, u32(flags), ...contents);

/** A descriptor of ISO/IEC 14496-1 §8.3.3, its length written in four bytes as most writers do. */
const descriptor = (tag: number, ...contents: readonly Buffer[]) => {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, 0x80, 0x80, 0x80, body.length]), body]);
};

const fixed16 = 0x0001_0000;
const unityMatrix = u32(fixed16, 0, 0, 0, fixed16, 0, 0, 0, 0x4000_0000);
const trackId = 1;

/** AudioSpecificConfig: AAC-LC, 48 kHz, stereo, 1024 samples (ISO/IEC 14496-3 §1.6.2.1). */
const audioSpecificConfig = Buffer.from([0x11, 0x90]);
/** Undivided audio stream of MPEG-4 (ISO/IEC 14496-1 §7.2.6.6); no decoder needs its buffer size and rates. */
const decoderConfig = descriptor(
  0x04,
  Buffer.from([0x40, 0x15]),
  zeros(3),
  u32(0, 0),
  descriptor(0x05, audioSpecificConfig),
);
const esds = fullBox(
  'esds',
  0,
  descriptor(0x03, u16(trackId), zeros(1), decoderConfig, descriptor(0x06, Buffer.from([2]))),
);
const sampleEntry = box(
  'mp4a',
  zeros(6),
  u16(1),
  zeros(8),
  u16(aacTrack.channels, 16, 0, 0, aacTrack.sampleRate, 0),
  esds,
);

const sampleTable = box(
  'stbl',
  fullBox('stsd', 0, u32(1), sampleEntry),
  fullBox('stts', 0, u32(0)),
  fullBox('stsc', 0, u32(0)),
  fullBox('stsz', 0, u32(0, 0)),
  fullBox('stco', 0, u32(0)),
);
const media = box(
  'mdia',
  fullBox('mdhd', 0, u32(0, 0, aacTrack.sampleRate, 0), u16(0x55c4, 0)),
  fullBox('hdlr', 0, zeros(4), text('soun'), zeros(12), text('Sound\0')),
  box('minf', fullBox('smhd', 0, zeros(4)), box('dinf', fullBox('dref', 0, u32(1), fullBox('url ', 1))), sampleTable),
);
const track = box(
  'trak',
  // Enabled, in the movie and in its preview; at full volume.
  fullBox('tkhd', 7, u32(0, 0, trackId, 0, 0), zeros(8), u16(0, 0, 0x0100, 0), unityMatrix, u32(0, 0)),
  media,
);
const movie = box(
  'moov',
  fullBox('mvhd', 0, u32(0, 0, 1000, 0, fixed16), u16(0x0100), zeros(10), unityMatrix, zeros(24), u32(trackId + 1)),
  track,
  box('mvex', fullBox('trex', 0, u32(trackId, 1, aacTrack.frameSamples, 0, 0))),
);

/**
 * The initialization section of every AAC track: `ftyp` and `moov` of CMAF (ISO/IEC 23000-19) with one track, no edit list and no sample.
 * The language is undetermined: playlists name it.
 */
export const aacInit: Buffer = Buffer.concat([box('ftyp', text('cmfc'), u32(0), text('iso6cmfccmfaisom')), movie]);

/** Where a fragment of `renderFragment` holds what depends on its place in the track, from the beginning of its `moof`. */
export const patchedFields = Object.freeze({
  /** `mfhd`, the number of the fragment: 4 bytes. */
  sequence: Object.freeze({ at: 20, bytes: 4 }),
  /** `tfdt` version 1, the ticks before the fragment: 8 bytes. */
  decodeTime: Object.freeze({ at: 60, bytes: 8 }),
});

const moofBytesWithoutSizes = 88;

/**
 * One cell: `moof` and `mdat` of frames of 1024 samples each. Frame sizes vary, so `moof` lists them.
 * @param sequence from 1
 * @param start ticks
 */
export function renderFragment(sequence: number, start: number, frames: readonly Uint8Array[]): Buffer {
  const moofBytes = moofBytesWithoutSizes + 4 * frames.length;
  const decodeTime = Buffer.alloc(8);
  decodeTime.writeBigUInt64BE(BigInt(start));
  const moof = box(
    'moof',
    fullBox('mfhd', 0, u32(sequence)),
    box(
      'traf',
      // default-base-is-moof: offsets count from the beginning of this `moof`.
      fullBox('tfhd', 0x02_0000, u32(trackId)),
      fullBox('tfdt', 0x0100_0000, decodeTime),
      // Data offset and sample sizes are present.
      fullBox('trun', 0x00_0201, u32(frames.length, moofBytes + 8), u32(...frames.map(({ length }) => length))),
    ),
  );
  return Buffer.concat([
    moof,
    box('mdat', ...frames.map((frame) => Buffer.from(frame.buffer, frame.byteOffset, frame.length))),
  ]);
}
