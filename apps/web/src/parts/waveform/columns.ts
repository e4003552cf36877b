/** Peaks of a sound for drawing. */
export interface Peaks {
  /** Minimum and maximum of each pair in turn, −128 … 127. */
  readonly data: Int8Array;
  /** How long one pair lasts, in milliseconds. */
  readonly pairMs: number;
}

const isWhole = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;

/**
 * The peaks of a file of audiowaveform, version 2 with 8 bits, as the encoder makes it.
 * @throws TypeError for anything else
 */
export function parsePeaks(file: unknown): Peaks {
  const {
    version,
    bits,
    sample_rate: rate,
    samples_per_pixel: samples,
    data,
  } = (file ?? {}) as Record<string, unknown>;
  if (version !== 2 || bits !== 8 || !isWhole(rate) || !isWhole(samples) || !Array.isArray(data))
    throw new TypeError('no peaks of version 2 with 8 bits');
  return { data: Int8Array.from(data as number[]), pairMs: (samples * 1000) / rate };
}

/** The same peaks in half as many pairs, and so on down to one, so that a whole episode is drawn from few. */
export type Reduction = readonly Int8Array[];

export function reduce(data: Int8Array): Reduction {
  const levels = [data];
  for (let last = data; last.length > 2;) {
    const half = new Int8Array(Math.ceil(last.length / 4) * 2);
    for (let at = 0; at < half.length; at += 2) {
      const [from, to] = [at * 2, at * 2 + 2 < last.length ? at * 2 + 2 : at * 2];
      half[at] = Math.min(last[from]!, last[to]!);
      half[at + 1] = Math.max(last[from + 1]!, last[to + 1]!);
    }
    levels.push(half);
    last = half;
  }
  return levels;
}

/**
 * Minimum and maximum of each of `count` columns of equal width, from one pair to another (both may be fractions). A column has every peak that it touches,
 * and may have those of a pair beside it; where the sound has ended it is silent.
 */
export function columnsOf(levels: Reduction, fromPair: number, toPair: number, count: number): Int8Array {
  const columns = new Int8Array(count * 2);
  const step = (toPair - fromPair) / count;
  const level = Math.min(levels.length - 1, Math.max(0, Math.floor(Math.log2(step))));
  const data = levels[level]!;
  const width = 2 ** level;
  for (let column = 0; column < count; column += 1) {
    const first = Math.max(0, Math.floor((fromPair + column * step) / width));
    const end = Math.min(data.length / 2, Math.max(first + 1, Math.ceil((fromPair + (column + 1) * step) / width)));
    for (let pair = first; pair < end; pair += 1) {
      columns[column * 2] = Math.min(columns[column * 2]!, data[pair * 2]!);
      columns[column * 2 + 1] = Math.max(columns[column * 2 + 1]!, data[pair * 2 + 1]!);
    }
  }
  return columns;
}
