import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { newId } from '@longwave/ids';
import { startCommandSender } from './command-sender.ts';
import { ratePerSecond, type Row } from './measure.ts';

const total = 10_000;
const step = 1_000;
const width = 8;

/** Collects garbage, and answers the bytes that the heap still uses. */
function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}

/** The slope of the line through values that were measured at equal distances, by least squares: the growth from one to the next. */
function slope(values: readonly number[]): number {
  const mean = (list: readonly number[]) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const [x, y] = [(values.length - 1) / 2, mean(values)];
  const deviations = values.map((value, i) => (i - x) * (value - y));
  return mean(deviations) / mean(values.map((_, i) => (i - x) ** 2));
}

/** The heap after 10,000 commands against the heap after the first 1,000, each without garbage: 1 when no command leaves anything behind. */
export async function commandMemory(): Promise<Row> {
  await using commands = await startCommandSender();
  const workspaces = Array.from({ length: width }, () => newId('ws'));
  const heap: number[] = [];
  for (let sent = 0; sent < total; sent += step) {
    await ratePerSecond(step, width, (i) => commands.send(workspaces[i % width]!));
    heap.push(heapAfterCollection());
  }
  const [first, last] = [heap[0]!, heap.at(-1)!];
  return {
    name: `heap after ${total} commands, growing by ${Math.round(slope(heap) / step)} bytes for each (less is better)`,
    unit: 'MB',
    ours: last / 1e6,
    baseline: first / 1e6,
    baselineName: `after ${step}`,
    ratio: last / first,
  };
}
