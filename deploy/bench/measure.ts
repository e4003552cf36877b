import { watchCpu, type CpuPerItem } from './cpu.ts';

/** One row of the table: what ours does, what the honest baseline does, and the ratio of the two in the same run. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly baseline: number;
  readonly baselineName: string;
  /** Median over the rounds of ours / baseline; above 1 is faster than the baseline. */
  readonly ratio: number;
  /** CPU time of one item, where items were counted: of the round with the median sum. */
  readonly cpu?: { readonly ours: CpuPerItem; readonly baseline: CpuPerItem };
}

/** One round: its result in the row's unit, and how many items (requests, calls, facts) it took. */
export interface Round {
  readonly value: number;
  readonly items: number;
  /** Programs did the work that began and ended within the round. */
  readonly byPrograms?: true;
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

type Measured = Pick<Round, 'value'> & { readonly cpu?: CpuPerItem };

async function measured(round: () => Promise<number | Round>): Promise<Measured> {
  const spent = watchCpu();
  const result = await round();
  return typeof result === 'number'
    ? { value: result }
    : { value: result.value, cpu: spent(result.items, result.byPrograms) };
}

const sumOf = (cpu: CpuPerItem) => cpu.reduce((sum, { micros }) => sum + micros, 0);

function middleCpu(rounds: readonly Measured[]): CpuPerItem | undefined {
  const sorted = rounds.flatMap(({ cpu }) => (cpu ? [cpu] : [])).sort((a, b) => sumOf(a) - sumOf(b));
  return sorted[sorted.length >> 1];
}

/**
 * Measures both sides in turn, A B A B …, after one round that does not count; machines drift, ratios of neighbours do not. A side that
 * answers how many items it took gets its CPU time measured too.
 */
export async function compare(
  row: Pick<Row, 'name' | 'unit' | 'baselineName'>,
  rounds: number,
  ours: () => Promise<number | Round>,
  baseline: () => Promise<number | Round>,
): Promise<Row> {
  await ours();
  await baseline();
  const pairs: (readonly [Measured, Measured])[] = [];
  for (let round = 0; round < rounds; round++) pairs.push([await measured(ours), await measured(baseline)]);
  const [ourCpu, baselineCpu] = [middleCpu(pairs.map(([a]) => a)), middleCpu(pairs.map(([, b]) => b))];
  return {
    ...row,
    ours: median(pairs.map(([a]) => a.value)),
    baseline: median(pairs.map(([, b]) => b.value)),
    ratio: median(pairs.map(([a, b]) => a.value / b.value)),
    ...(ourCpu && baselineCpu && { cpu: { ours: ourCpu, baseline: baselineCpu } }),
  };
}

/** The median of some rounds, after one that does not count, and the CPU time of the middle one. */
export async function middleOf(rounds: number, round: () => Promise<Round>): Promise<Measured> {
  await round();
  const all: Measured[] = [];
  for (let nth = 0; nth < rounds; nth++) all.push(await measured(round));
  const cpu = middleCpu(all);
  return { value: median(all.map(({ value }) => value)), ...(cpu && { cpu }) };
}

/** Runs `work` `total` times, `width` at a time; its value is how many per second. */
export async function ratePerSecond(
  total: number,
  width: number,
  work: (index: number) => Promise<unknown>,
): Promise<Round> {
  let next = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < total) await work(next++);
    }),
  );
  return { value: (total * 1000) / (performance.now() - started), items: total };
}
