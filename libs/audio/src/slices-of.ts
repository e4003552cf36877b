/** A stretch of one part, in that part's own bytes. */
export interface PartSlice {
  readonly part: number;
  readonly from: number;
  readonly to: number;
}

/** A part of a file that is joined of parts: where it begins in the file, and how long it is. */
export interface Extent {
  readonly offset: number;
  readonly length: number;
}

/** Index of the part that holds byte `at`, by binary search. */
function partAt(parts: readonly Extent[], at: number): number {
  let low = 0;
  let high = parts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (parts[middle]!.offset <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The slices whose bytes, one after the other, are the bytes [from, to) of the file; `parts` follow each other without a gap. */
export function slicesOf(parts: readonly Extent[], from: number, to: number): PartSlice[] {
  const slices: PartSlice[] = [];
  for (let part = partAt(parts, from); part < parts.length && parts[part]!.offset < to; part++) {
    const { offset, length } = parts[part]!;
    const slice = { part, from: Math.max(0, from - offset), to: Math.min(length, to - offset) };
    if (slice.from < slice.to) slices.push(slice);
  }
  return slices;
}
