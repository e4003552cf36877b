import type { Pool } from '@longwave/postgres';
import { observeGauge } from '@longwave/service-kit';
import { countJobs } from './job-table.ts';

/** The gauge `longwave.jobs`. */
export const observeJobs = (pool: Pool): Disposable =>
  observeGauge('longwave.jobs', { unit: '{job}', description: 'Jobs that are not over' }, async () =>
    (await countJobs(pool)).map(({ kind, state, jobs }) => ({ value: jobs, labels: { kind, state } })),
  );
