import { z } from 'zod';
import { median, type Row } from './measure.ts';
import { runProgram } from './run-program.ts';

const rates = z.strictObject({ leased: z.array(z.number()), plain: z.array(z.number()) });

/** Decisions with two slots of goals each, stored in batches of 32 by one session, against the same without goals. */
export function leasedInsert(): Row {
  const { leased, plain } = runProgram('apps/internal-serving/tests/_insert-rates.ts', rates);
  return {
    name: 'insert with leases, 32 decisions of two slots over 20 line items',
    ...{ unit: 'decisions/s', ours: median(leased), baseline: median(plain), baselineName: 'the same without goals' },
    ratio: median(leased.map((rate, at) => rate / plain[at]!)),
  };
}

const percentiles = z.strictObject({ p99: z.number(), p50: z.number() });
const times = z.strictObject({ near: z.array(percentiles), far: z.array(percentiles) });

/** Decisions at a process whose Redis answers 5 ms later than that of the other: with goals alone, which ask it for nothing, and with a cap. */
export function farRedis(): readonly Row[] {
  const found = runProgram('apps/internal-serving/tests/_slow-redis.ts', z.strictObject({ goals: times, caps: times }));
  return Object.entries({ 'under goals': found.goals, 'under goals with a cap': found.caps }).flatMap(
    ([name, { near, far }]) =>
      (['p99', 'p50'] as const).map((part): Row => ({
        name: `ad decisions ${name}, Redis 5 ms away: ${part} (less is better)`,
        ...{ unit: 'ms', ours: median(far.map((one) => one[part])), baseline: median(near.map((one) => one[part])) },
        ...{ baselineName: 'Redis near', ratio: median(far.map((one, at) => one[part] / near[at]![part])) },
      })),
  );
}

const sizes = z.array(
  z.strictObject({
    ...{ servings: z.number(), bytes: z.number(), madeInMs: z.number() },
    ...{ changed: z.array(z.number()), all: z.array(z.number()) },
  }),
);

/** What the pacer reads of cohorts beside many servings, against the same beside the fewest. @param millions of servings, the fewest first */
export function cohortReads(millions: string): readonly Row[] {
  const [fewest, ...more] = runProgram('apps/analytics-sink/tests/_cohort-reads.ts', sizes, millions);
  const reads = { changed: 'cohorts of 400 line items that changed', all: 'all cohorts of 50 new line items' } as const;
  return more.flatMap((size) =>
    (['changed', 'all'] as const).map((part): Row => {
      const [ours, baseline] = [median(size[part]), median(fewest![part])];
      return {
        name: `${reads[part]}, read beside ${size.servings.toLocaleString('en')} servings, ${(size.bytes / 1e9).toFixed(1)} GB (less is better)`,
        ...{ unit: 'ms', ours, baseline, ratio: ours / baseline },
        baselineName: `beside ${fewest!.servings.toLocaleString('en')}`,
      };
    }),
  );
}
