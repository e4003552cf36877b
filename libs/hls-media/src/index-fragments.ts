import { cellIndexSchema, type Cell, type CellIndex } from './cell-index.ts';
import { boxesIn, FragmentError, onlyBox, uintIn, walkFile, type Box, type ReadBytes } from './read-boxes.ts';

/** A fragmented file of pictures, as ffmpeg writes it (`pictureArguments`, `iFrameArguments`). */
export interface PictureFile {
  readonly index: CellIndex;
  /** "avc1.64001f": profile, constraints and level of the decoder's configuration (RFC 6381 §3.3). */
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  /** The most pictures of one cell. */
  readonly maxPictures: number;
}

/** What a `moov` says about its one track. */
interface Movie extends Pick<PictureFile, 'codec' | 'width' | 'height'> {
  readonly timescale: number;
  /** Ticks of a picture whose fragment does not say it. */
  readonly defaultDuration: number;
}

const whole = (bytes: Buffer) => ({ contents: 0, to: bytes.length });
const versionOf = (bytes: Buffer, box: Box) => uintIn(bytes, box, 0, 1);
const flagsOf = (bytes: Buffer, box: Box) => uintIn(bytes, box, 1, 3);

function readMovie(bytes: Buffer): Movie {
  const moov = onlyBox(bytes, whole(bytes), 'moov');
  const track = onlyBox(bytes, moov, 'trak');
  if (boxesIn(bytes, track.contents, track.to).some(({ type }) => type === 'edts'))
    throw new FragmentError('the track has an edit list');
  const mdhd = onlyBox(bytes, track, 'mdia', 'mdhd');
  const timescale = uintIn(bytes, mdhd, versionOf(bytes, mdhd) === 1 ? 20 : 12, 4);
  const stsd = onlyBox(bytes, track, 'mdia', 'minf', 'stbl', 'stsd');
  // Behind version, flags and the number of entries.
  const avc1 = onlyBox(bytes, { contents: stsd.contents + 8, to: stsd.to }, 'avc1');
  // The fields of a visual sample entry are 78 bytes long.
  const avcC = onlyBox(bytes, { contents: avc1.contents + 78, to: avc1.to }, 'avcC');
  const trex = onlyBox(bytes, moov, 'mvex', 'trex');
  return {
    timescale,
    defaultDuration: uintIn(bytes, trex, 12, 4),
    codec: `avc1.${uintIn(bytes, avcC, 1, 3).toString(16).padStart(6, '0')}`,
    width: uintIn(bytes, avc1, 24, 2),
    height: uintIn(bytes, avc1, 26, 2),
  };
}

/** Optional fields of `tfhd` before the default duration, and that itself (ISO/IEC 14496-12 §8.8.7). */
function defaultDurationOf(bytes: Buffer, tfhd: Box, fallback: number): number {
  const flags = flagsOf(bytes, tfhd);
  if ((flags & 0x8) === 0) return fallback;
  return uintIn(bytes, tfhd, 8 + (flags & 0x1 ? 8 : 0) + (flags & 0x2 ? 4 : 0), 4);
}

/** Bytes of each sample's fields in `trun`: duration, size, flags, composition offset (§8.8.8). */
const sampleFields = [0x100, 0x200, 0x400, 0x800];

interface Run {
  readonly pictures: number;
  readonly ticks: number;
  /** Ticks from the time at which the first picture is decoded to that at which it is shown. */
  readonly delay: number;
}

function readRun(bytes: Buffer, trun: Box, defaultDuration: number): Run {
  const flags = flagsOf(bytes, trun);
  const pictures = uintIn(bytes, trun, 4, 4);
  const first = 8 + (flags & 0x1 ? 4 : 0) + (flags & 0x4 ? 4 : 0);
  const stride = 4 * sampleFields.filter((field) => flags & field).length;
  if (pictures < 1 || trun.contents + first + pictures * stride > trun.to)
    throw new FragmentError(`no fragment has ${pictures} pictures in a box "trun" of ${trun.to - trun.from} bytes`);
  // The field is signed.
  const delay = flags & 0x800 ? uintIn(bytes, trun, first + stride - 4, 4) | 0 : 0;
  if ((flags & 0x100) === 0) return { pictures, ticks: pictures * defaultDuration, delay };
  let ticks = 0;
  for (let picture = 0; picture < pictures; picture++) ticks += uintIn(bytes, trun, first + picture * stride, 4);
  return { pictures, ticks, delay };
}

/** When a `moof` begins, how long it lasts, how many pictures it has, and whether it is shown from its beginning. */
function readFragment(bytes: Buffer, movie: Movie): Run & { readonly start: number } {
  const traf = onlyBox(bytes, whole(bytes), 'moof', 'traf');
  const tfdt = onlyBox(bytes, traf, 'tfdt');
  const start = uintIn(bytes, tfdt, 4, versionOf(bytes, tfdt) === 1 ? 8 : 4);
  const defaultDuration = defaultDurationOf(bytes, onlyBox(bytes, traf, 'tfhd'), movie.defaultDuration);
  return { start, ...readRun(bytes, onlyBox(bytes, traf, 'trun'), defaultDuration) };
}

/** A box that must fit into memory. */
const maxBoxBytes = 1 << 20;

async function readBox(read: ReadBytes, { type, from, to }: Box): Promise<Buffer> {
  if (to - from > maxBoxBytes) throw new FragmentError(`the box "${type}" at byte ${from} is too large`);
  return read(from, to);
}

/**
 * The index of a fragmented file of pictures by its boxes: each `moof` with its `mdat` is a cell. Reads heads only, so its cost does not grow
 * with the pictures. Throws `FragmentError` for a file with an edit list, with a gap in time,
 * with pictures that are shown late, with a cell without pictures or time, or that is damaged or cut in any way.
 * @param size of the file
 */
export async function indexFragments(read: ReadBytes, size: number): Promise<PictureFile> {
  let movie: Movie | undefined;
  let init = 0;
  let maxPictures = 0;
  let open: { from: number; start: number; ticks: number; pictures: number } | undefined;
  const cells: Cell[] = [];
  for await (const box of walkFile(read, size)) {
    if (box.type === 'moov') {
      if (movie) throw new FragmentError(`a second box "moov" at byte ${box.from}`);
      movie = readMovie(await readBox(read, box));
      init = box.to;
    } else if (box.type === 'moof') {
      if (!movie || open) throw new FragmentError(`no fragment may begin at byte ${box.from}`);
      const { start, ticks, pictures, delay } = readFragment(await readBox(read, box), movie);
      const [, , lastStart, lastTicks] = cells.at(-1) ?? [0, 0, 0, 0];
      if (start !== lastStart + lastTicks) throw new FragmentError(`a gap in time before byte ${box.from}`);
      if (delay !== 0) throw new FragmentError(`the pictures from byte ${box.from} are shown late`);
      if (ticks < 1) throw new FragmentError(`the pictures from byte ${box.from} take no time`);
      maxPictures = Math.max(maxPictures, pictures);
      open = { from: box.from, start, ticks, pictures };
    } else if (box.type === 'mdat' && open) {
      if (box.to - box.contents < open.pictures) throw new FragmentError(`pictures without bytes at byte ${box.from}`);
      cells.push([open.from, box.to - open.from, open.start, open.ticks]);
      open = undefined;
    }
  }
  if (!movie || open || cells.length === 0) throw new FragmentError('the file ends before a fragment does');
  const { timescale, codec, width, height } = movie;
  const index = cellIndexSchema.safeParse({ timescale, init, bytes: size, cells });
  if (!index.success) throw new FragmentError('the timescale or a time is out of range');
  return { index: index.data, codec, width, height, maxPictures };
}

/** `indexFragments` of pictures for seeking. Throws `FragmentError` also when a cell holds more than one picture. */
export async function indexIFrames(read: ReadBytes, size: number): Promise<PictureFile> {
  const file = await indexFragments(read, size);
  if (file.maxPictures > 1) throw new FragmentError('a fragment holds more than one picture');
  return file;
}
