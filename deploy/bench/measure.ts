/** One row of the table: what ours does, what the honest baseline does, and the ratio of the two in the same run. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly baseline: number;
  readonly baselineName: string;
  /** Median over the rounds of ours / baseline; above 1 is faster than the baseline. */
  readonly ratio: number;
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** Measures both sides in turn, A B A B …, after one round that does not count; machines drift, ratios of neighbours do not. */
export async function compare(
  row: Pick<Row, 'name' | 'unit' | 'baselineName'>,
  rounds: number,
  ours: () => Promise<number>,
  baseline: () => Promise<number>,
): Promise<Row> {
  await ours();
  await baseline();
  const pairs: (readonly [number, number])[] = [];
  for (let round = 0; round < rounds; round++) pairs.push([await ours(), await baseline()]);
  return {
    ...row,
    ours: median(pairs.map(([a]) => a)),
    baseline: median(pairs.map(([, b]) => b)),
    ratio: median(pairs.map(([a, b]) => a / b)),
  };
}

/** Runs `work` `total` times, `width` at a time; answers how many per second. */
export async function ratePerSecond(
  total: number,
  width: number,
  work: (index: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < total) await work(next++);
    }),
  );
  return (total * 1000) / (performance.now() - started);
}
