import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet';
import { z } from 'zod';
import { median, type Row } from './measure.ts';

const program = path.join(workspaceRoot, 'apps/internal-serving/tests/_pacer-ticks.ts');
const times = z.strictObject({ ticks: z.array(z.number()), queries: z.array(z.number()), cpuMs: z.number() });

/** A tick of the pacer, of which there is one each second, in turn with the bare query of all leases; less is better. */
export function pacerTick(): Row {
  const text = execFileSync(process.execPath, [program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const { ticks, queries, cpuMs } = times.parse(JSON.parse(text.trim().split('\n').at(-1)!));
  const ratios = ticks.map((ms, at) => ms / queries[at]!);
  return {
    name: `pacer tick, 10k line items × 8 nodes, 2,000 asked for (${Math.round(cpuMs)} ms of its process's CPU; less is better)`,
    ...{ unit: 'ms', ours: median(ticks), baseline: median(queries), baselineName: 'the bare query of all leases' },
    ratio: median(ratios),
  };
}
