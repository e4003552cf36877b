import { listDue } from '@longwave/command-pipeline';
import type { DueTask } from '../../background/due-task.ts';

/** Ends forecasts that are too old to be relied on. */
export const expireForecast: DueTask<'forecast.expire'> = {
  name: 'expire-forecast',
  findDue: (pool, now, limit) =>
    listDue(pool, { type: 'forecasts', states: ['ready'], at: ['expires_at'] }, now, limit),
  command: 'forecast.expire',
  changes: () => ({}),
};
