import { aacTrack } from './aac-track.ts';
import { readAdtsFrames } from './adts.ts';
import type { Cell, CellIndex } from './cell-index.ts';
import { aacInit, renderFragment } from './write-boxes.ts';

/**
 * Writes the AAC of an encoder as a CMAF track with one fragment per cell, and answers its index. The first frame, which holds the
 * encoder's priming and no sound of the source, is dropped: media time 0 is then sample 0, without an edit list. Frames behind the last
 * one are read and dropped. Holds one cell at a time.
 * @param adts what the encoder wrote
 * @param starts the first frame of each cell, from 0
 * @param frames of the whole track: `aacFramesOfSamples` of the source
 * @param write is given the bytes of the file in order; the next ones wait for its promise
 * Throws `AdtsError`, or an `Error` when the encoder made too few frames.
 */
export async function muxAac(
  adts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  starts: readonly number[],
  frames: number,
  write: (bytes: Buffer) => void | Promise<void>,
): Promise<CellIndex> {
  if (starts[0] !== 0 || starts.some((start, index) => start >= (starts[index + 1] ?? frames)))
    throw new RangeError('cells begin at frame 0 and hold at least one frame each');
  const ticks = (count: number) => count * aacTrack.frameSamples;
  const cells: Cell[] = [];
  let bytes = aacInit.length;
  await write(aacInit);

  async function writeCell(inCell: readonly Uint8Array[]) {
    const start = ticks(starts[cells.length]!);
    const fragment = renderFragment(cells.length + 1, start, inCell);
    cells.push([bytes, fragment.length, start, ticks(inCell.length)]);
    bytes += fragment.length;
    await write(fragment);
  }

  let made = -1;
  let inCell: Uint8Array[] = [];
  for await (const { sound } of readAdtsFrames(adts)) {
    if (made >= 0 && made < frames) {
      inCell.push(Uint8Array.from(sound));
      if (made + 1 === (starts[cells.length + 1] ?? frames)) {
        await writeCell(inCell);
        inCell = [];
      }
    }
    made++;
  }
  if (made < frames) throw new Error(`the encoder made ${Math.max(0, made)} frames of ${frames}`);
  return { timescale: aacTrack.sampleRate, init: aacInit.length, bytes, cells };
}
