import { z } from 'zod';

const bytes = z.int().min(0);
const ticks = z.int().min(0);

/** One cell: a `moof` box and its `mdat`. Offset and length are bytes of the file, start and duration ticks of the timescale. */
const cell = z.tuple([bytes, bytes, ticks, ticks]).readonly();

/** The index of one track in one file, stored beside it as JSON: an hour has 1,000 to 1,400 cells and 30 to 50 kB. */
export const cellIndexSchema = z
  .strictObject({
    /** Ticks per second. */
    timescale: z.int().min(1),
    /** Length of the initialization section (`ftyp` and `moov`), which begins the file. */
    init: z.int().min(1),
    /** Length of the file. */
    bytes: z.int().min(1),
    /** In order, without a gap in time. */
    cells: z.array(cell).min(1).readonly(),
  })
  .readonly();

export type CellIndex = z.infer<typeof cellIndexSchema>;
export type Cell = z.infer<typeof cell>;

/** Ticks from the beginning of the track to its end. */
export function durationTicks({ cells }: Pick<CellIndex, 'cells'>): number {
  const [, , start, duration] = cells.at(-1)!;
  return start + duration;
}
