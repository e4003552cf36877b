import { z } from 'zod';
import { median, type Row } from './measure.ts';
import { runProgram } from './run-program.ts';

const times = z.strictObject({ ticks: z.array(z.number()), queries: z.array(z.number()), cpuMs: z.number() });

/** A tick of the pacer, of which there is one each second, in turn with the bare query of all leases; less is better. */
export function pacerTick(): Row {
  const { ticks, queries, cpuMs } = runProgram('apps/internal-serving/tests/_pacer-ticks.ts', times);
  const ratios = ticks.map((ms, at) => ms / queries[at]!);
  return {
    name: `pacer tick, 10k line items × 8 nodes, 2,000 asked for (${Math.round(cpuMs)} ms of its process's CPU; less is better)`,
    ...{ unit: 'ms', ours: median(ticks), baseline: median(queries), baselineName: 'the bare query of all leases' },
    ratio: median(ratios),
  };
}
