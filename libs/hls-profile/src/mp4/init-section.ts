import { boxesIn, findBox, Mp4Error, readInside, viewOf, type Box } from './boxes.ts';
import { readSampleEntry, type SampleEntry } from './sample-entry.ts';

/** One track of an initialization section. */
export interface Track {
  readonly id: number;
  readonly kind: 'audio' | 'video' | 'other';
  /** Units of its times in one second. */
  readonly timescale: number;
  readonly entry: SampleEntry | undefined;
  /** Whether an edit list moves or cuts the media (ISO/IEC 14496-12 §8.6.6). */
  readonly hasEdit: boolean;
  /** What fragments take where they say nothing (`trex`). */
  readonly defaults: { readonly sampleDuration: number; readonly sampleFlags: number; readonly sampleSize: number };
}

/** Initialization section: what the tracks are (RFC 8216 §3.3). */
export interface InitSection {
  readonly tracks: readonly Track[];
  readonly hasFileType: boolean;
}

/** An edit list that only says "from the beginning, at normal speed" moves nothing. */
function movesMedia(bytes: Uint8Array, { body }: Box): boolean {
  const view = viewOf(bytes);
  const isWide = bytes[body] === 1;
  const count = view.getUint32(body + 4);
  if (count === 0) return false;
  const at = body + 8 + (isWide ? 8 : 4);
  const mediaTime = isWide ? Number(view.getBigInt64(at)) : view.getInt32(at);
  const rate = view.getUint32(at + (isWide ? 8 : 4));
  return count > 1 || mediaTime !== 0 || rate !== 0x1_0000;
}

function required(bytes: Uint8Array, path: string, within: Box): Box {
  const box = findBox(bytes, path, within);
  if (!box) throw new Mp4Error(`its track has no “${path}”`);
  return box;
}

function readTrack(bytes: Uint8Array, trak: Box, extends_: ReadonlyMap<number, Track['defaults']>): Track {
  const view = viewOf(bytes);
  const [tkhd, mdhd, hdlr] = ['tkhd', 'mdia/mdhd', 'mdia/hdlr'].map((path) => required(bytes, path, trak));
  const id = view.getUint32(tkhd!.body + (bytes[tkhd!.body] === 1 ? 20 : 12));
  const handler = String.fromCharCode(...bytes.subarray(hdlr!.body + 8, hdlr!.body + 12));
  const elst = findBox(bytes, 'edts/elst', trak);
  const stsd = findBox(bytes, 'mdia/minf/stbl/stsd', trak);
  return {
    id,
    kind: handler === 'soun' ? 'audio' : handler === 'vide' ? 'video' : 'other',
    timescale: view.getUint32(mdhd!.body + (bytes[mdhd!.body] === 1 ? 20 : 12)),
    entry: stsd && readSampleEntry(bytes, stsd),
    hasEdit: elst !== undefined && movesMedia(bytes, elst),
    defaults: extends_.get(id) ?? { sampleDuration: 0, sampleFlags: 0, sampleSize: 0 },
  };
}

/** Reads an initialization section. Throws `Mp4Error`. */
export function readInitSection(bytes: Uint8Array): InitSection {
  return readInside(() => {
    const view = viewOf(bytes);
    const moov = findBox(bytes, 'moov');
    if (!moov) throw new Mp4Error('it has no “moov”');
    if (moov.end > bytes.length) throw new Mp4Error('it ends in the middle of its “moov”');
    const mvex = findBox(bytes, 'mvex', moov);
    if (!mvex) throw new Mp4Error('its “moov” has no “mvex”, so the file is not fragmented');
    const extends_ = new Map<number, Track['defaults']>();
    for (const { type, body } of boxesIn(bytes, mvex.body, mvex.end)) {
      if (type !== 'trex') continue;
      const [id, , sampleDuration, sampleSize, sampleFlags] = [4, 8, 12, 16, 20].map((at) => view.getUint32(body + at));
      extends_.set(id!, { sampleDuration: sampleDuration!, sampleSize: sampleSize!, sampleFlags: sampleFlags! });
    }
    const traks = [...boxesIn(bytes, moov.body, moov.end)].filter(({ type }) => type === 'trak');
    return {
      tracks: traks.map((trak) => readTrack(bytes, trak, extends_)),
      hasFileType: findBox(bytes, 'ftyp') !== undefined,
    };
  });
}
