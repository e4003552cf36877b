import { slicesOf, type Extent } from '@longwave/audio';
import { jcsDigest } from '@longwave/idempotency';
import { z } from 'zod';
import { aacTrack } from './aac-track.ts';
import { durationTicks, type Cell, type CellIndex } from './cell-index.ts';
import { patchedFields } from './write-boxes.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * One track as it is stored and hashed: the initialization section of one blob, then the cells of several blobs. Its SHA-256 over JCS
 * (RFC 8785) is its name. Versions 1 and 2 are arrangements of MP3.
 */
export const trackArrangementSchema = z.strictObject({
  v: z.literal(3),
  kind: z.literal('track'),
  /** As `CODECS` of a playlist names it. */
  codec: z.string().min(1),
  /** Ticks per second. */
  timescale: z.int().min(1),
  init: z.strictObject({ blob: sha256, length: z.int().min(1) }),
  parts: z
    .array(
      z.strictObject({
        blob: sha256,
        /** The bytes [from, from + length) of the blob are all its cells. */
        from: z.int().min(1),
        length: z.int().min(1),
        /** Ticks of the track before the part. */
        rebase: z.int().min(0),
      }),
    )
    .min(1),
});

export type TrackArrangement = z.infer<typeof trackArrangementSchema>;

/** A stored file of one track. */
export interface TrackBlob {
  /** SHA-256. */
  readonly digest: string;
  readonly index: CellIndex;
}

const cellsEnd = ({ cells }: CellIndex): number => cells.at(-1)![0] + cells.at(-1)![1];

/**
 * Puts the cells of blobs one after the other: an intro, the episode's own sound, an outro. Equal inputs give the same document, hence the
 * same digest. Throws `RangeError` for several blobs that are not of `muxAac`: others have no fixed places for what changes.
 */
export function composeTrack(codec: string, blobs: readonly [TrackBlob, ...TrackBlob[]]): TrackArrangement {
  const [{ digest, index: first }] = blobs;
  if (blobs.length > 1 && codec !== aacTrack.codec) throw new RangeError('only tracks of sound are joined');
  let rebase = 0;
  const parts: TrackArrangement['parts'] = [];
  for (const { digest: blob, index } of blobs) {
    if (index.timescale !== first.timescale || index.init !== first.init)
      throw new RangeError('the blobs of a track begin with the same initialization section');
    parts.push({ blob, from: index.init, length: cellsEnd(index) - index.init, rebase });
    rebase += durationTicks(index);
  }
  const init = { blob: digest, length: first.init };
  return { v: 3, kind: 'track', codec, timescale: first.timescale, init, parts };
}

/** A track is named by its content. */
export const trackDigest = (track: TrackArrangement): string => jcsDigest(track);

/** The index of the file that a track describes. `indexes` are those of its parts, in order. */
export function trackIndex({ timescale, init, parts }: TrackArrangement, indexes: readonly CellIndex[]): CellIndex {
  let bytes = init.length;
  const cells: Cell[] = [];
  for (const [part, { from, length, rebase }] of parts.entries()) {
    for (const [offset, cellLength, start, duration] of indexes[part]!.cells)
      cells.push([offset - from + bytes, cellLength, start + rebase, duration]);
    bytes += length;
  }
  return { timescale, init: init.length, bytes, cells };
}

/** Bytes of a track: the bytes [from, to) of a blob, or bytes that are written while it is read. */
export type TrackSlice =
  { readonly blob: string; readonly from: number; readonly to: number } | { readonly bytes: Buffer };

type TrackPiece = Extent & TrackSlice;

const bigEndian = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  if (bytes === 8) buffer.writeBigUInt64BE(BigInt(value));
  else buffer.writeUInt32BE(value);
  return buffer;
};

/** Reads a track without writing it out. */
export interface TrackReader {
  readonly index: CellIndex;
  /** What the bytes [from, to) of the track are, in order: clipped to the track, none of them empty. */
  slices(from: number, to: number): TrackSlice[];
}

/**
 * A reader of a track. The cells of all parts but the first get other numbers and times (`patchedFields`); every other byte is the blob's.
 * @param indexes those of the parts, in order
 */
export function createTrackReader(track: TrackArrangement, indexes: readonly CellIndex[]): TrackReader {
  const pieces: TrackPiece[] = [];
  let end = 0;
  const addBlob = (blob: string, from: number, to: number) => {
    pieces.push({ offset: end, length: to - from, blob, from, to });
    end += to - from;
  };
  const addBytes = (bytes: Buffer) => {
    pieces.push({ offset: end, length: bytes.length, bytes });
    end += bytes.length;
  };
  addBlob(track.init.blob, 0, track.init.length);
  let sequence = 0;
  for (const [part, { blob, from, length, rebase }] of track.parts.entries()) {
    let read = from;
    for (const [offset, , start] of indexes[part]!.cells) {
      sequence++;
      if (part === 0) continue;
      for (const [field, value] of [
        [patchedFields.sequence, sequence],
        [patchedFields.decodeTime, start + rebase],
      ] as const) {
        addBlob(blob, read, offset + field.at);
        addBytes(bigEndian(value, field.bytes));
        read = offset + field.at + field.bytes;
      }
    }
    addBlob(blob, read, from + length);
  }
  return {
    index: trackIndex(track, indexes),
    slices: (from, to) => slicesOf(pieces, from, to).map((slice) => sliceOf(pieces[slice.part]!, slice)),
  };
}

function sliceOf(piece: TrackPiece, { from, to }: { readonly from: number; readonly to: number }): TrackSlice {
  if ('bytes' in piece) return { bytes: piece.bytes.subarray(from, to) };
  return { blob: piece.blob, from: piece.from + from, to: piece.from + to };
}
