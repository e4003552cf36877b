import { boxesIn, Mp4Error, readInside, viewOf, type Box } from './boxes.ts';
import type { InitSection, Track } from './init-section.ts';

/** What one track has in one `moof` with its `mdat`. Times are in units of the track's timescale. */
interface Fragment {
  readonly trackId: number;
  /** `tfdt` */
  readonly decodeTime: number;
  readonly duration: number;
  readonly samples: number;
  /** Decode times of the samples at which decoding can begin. */
  readonly syncTimes: readonly number[];
  /** Past the last byte of the first sample, in the bytes that were read. */
  readonly firstSampleEnd: number;
}

/** The bytes of one segment, as far as rules ask. */
export interface FragmentedBytes {
  readonly fragments: readonly Fragment[];
  /** Why the bytes are no run of whole fragments, in a sentence without a full stop; undefined when they are. */
  readonly notWhole: string | undefined;
}

/** `sample_is_non_sync_sample` (ISO/IEC 14496-12 §8.8.3.1). */
const isSync = (flags: number) => (flags & 0x1_0000) === 0;

interface TrackDefaults {
  readonly duration: number;
  readonly size: number;
  readonly flags: number;
  /** Where data offsets count from. */
  readonly base: number;
}

function readTfhd(bytes: Uint8Array, { body }: Box, moof: Box, tracks: readonly Track[]) {
  const view = viewOf(bytes);
  const flags = view.getUint32(body) & 0xff_ffff;
  const id = view.getUint32(body + 4);
  const track = tracks.find((each) => each.id === id);
  if (!track) throw new Mp4Error(`its fragment belongs to track ${id}, which the initialization section has not`);
  let at = body + 8;
  const take = (flag: number, size: 4 | 8): number | undefined => {
    if ((flags & flag) === 0) return undefined;
    at += size;
    return size === 8 ? Number(view.getBigUint64(at - 8)) : view.getUint32(at - 4);
  };
  const base = take(0x1, 8);
  take(0x2, 4);
  const defaults: TrackDefaults = {
    duration: take(0x8, 4) ?? track.defaults.sampleDuration,
    size: take(0x10, 4) ?? track.defaults.sampleSize,
    flags: take(0x20, 4) ?? track.defaults.sampleFlags,
    base: base ?? moof.start,
  };
  return { id, defaults };
}

/** More samples than a segment of any rate has; a count that fills no bytes would otherwise be counted for minutes. */
const maxSamples = 1_000_000;

/** The samples of a `trun`, which begins at `time`. */
function readTrun(bytes: Uint8Array, { body }: Box, defaults: TrackDefaults, time: number) {
  const view = viewOf(bytes);
  const flags = view.getUint32(body) & 0xff_ffff;
  const count = view.getUint32(body + 4);
  if (count > maxSamples) throw new Mp4Error('its “trun” has more than a million samples');
  const dataOffset = flags & 0x1 ? view.getInt32(body + 8) : 0;
  let at = body + 8 + (flags & 0x1 ? 4 : 0);
  const firstFlags = flags & 0x4 ? view.getUint32(at) : undefined;
  at += flags & 0x4 ? 4 : 0;
  let duration = 0;
  let firstSize = 0;
  const syncTimes: number[] = [];
  for (let sample = 0; sample < count; sample += 1) {
    const next = (flag: number, absent: number) => {
      if ((flags & flag) === 0) return absent;
      at += 4;
      return view.getUint32(at - 4);
    };
    const sampleDuration = next(0x100, defaults.duration);
    const size = next(0x200, defaults.size);
    const ownFlags = next(0x400, defaults.flags);
    next(0x800, 0);
    if (sample === 0) firstSize = size;
    if (isSync(sample === 0 ? (firstFlags ?? ownFlags) : ownFlags)) syncTimes.push(time + duration);
    duration += sampleDuration;
  }
  return { samples: count, duration, syncTimes, firstSampleEnd: defaults.base + dataOffset + firstSize };
}

function readTraf(bytes: Uint8Array, traf: Box, moof: Box, { tracks }: InitSection): Fragment {
  const view = viewOf(bytes);
  const boxes = [...boxesIn(bytes, traf.body, traf.end)];
  const [tfhd, tfdt] = ['tfhd', 'tfdt'].map((type) => boxes.find((box) => box.type === type));
  if (!tfhd || !tfdt) throw new Mp4Error('its fragment has no “tfhd” or no “tfdt”');
  const { id, defaults } = readTfhd(bytes, tfhd, moof, tracks);
  const isWide = bytes[tfdt.body] === 1;
  const decodeTime = isWide ? Number(view.getBigUint64(tfdt.body + 4)) : view.getUint32(tfdt.body + 4);
  let [samples, duration, firstSampleEnd] = [0, 0, 0];
  let syncTimes: readonly number[] = [];
  for (const trun of boxes.filter(({ type }) => type === 'trun')) {
    const run = readTrun(bytes, trun, defaults, decodeTime + duration);
    if (samples === 0) firstSampleEnd = run.firstSampleEnd;
    samples += run.samples;
    duration += run.duration;
    syncTimes = [...syncTimes, ...run.syncTimes];
  }
  return { trackId: id, decodeTime, duration, samples, syncTimes, firstSampleEnd };
}

/** Boxes that may stand before a fragment. */
const besides: readonly string[] = ['styp', 'sidx', 'ssix', 'prft', 'emsg', 'free', 'skip'];

/** Reads the bytes of a segment. Throws `Mp4Error` when a fragment cannot be read. */
export function readFragments(bytes: Uint8Array, init: InitSection): FragmentedBytes {
  return readInside(() => {
    const fragments: Fragment[] = [];
    let notWhole: string | undefined;
    let before = '';
    for (const box of boxesIn(bytes)) {
      if (box.type === 'moof') {
        if (box.end > bytes.length) throw new Mp4Error('it ends in the middle of a “moof”');
        for (const traf of boxesIn(bytes, box.body, box.end))
          if (traf.type === 'traf') fragments.push(readTraf(bytes, traf, box, init));
      } else if (box.type === 'mdat') {
        if (before !== 'moof') notWhole ??= 'it has an “mdat” without a “moof” before it';
      } else if (!besides.includes(box.type)) notWhole ??= `it has a “${box.type}”`;
      if (before === 'moof' && box.type !== 'mdat') notWhole ??= 'it has a “moof” without an “mdat” after it';
      if (box.end > bytes.length) notWhole ??= `it ends in the middle of an “${box.type}”`;
      before = box.type;
    }
    if (before === 'moof') notWhole ??= 'it has a “moof” without an “mdat” after it';
    if (fragments.length === 0) notWhole ??= 'it has no “moof”';
    return { fragments, notWhole };
  });
}
