import { listDue } from '@longwave/command-pipeline';
import type { DueTask } from '../../background/due-task.ts';
import { listDueReports } from './report-schedule-table.ts';

const runScheduledReport: DueTask<'report_run.schedule'> = {
  name: 'run-scheduled-report',
  findDue: listDueReports,
  command: 'report_run.schedule',
  creates: true,
  changes: ({ id, occurrence }) => ({ definition_id: id, scheduled_for: occurrence }),
};

const expireReport: DueTask<'report_run.expire'> = {
  name: 'expire-report',
  findDue: (pool, now, limit) =>
    listDue(pool, { type: 'report_runs', states: ['ready'], at: ['expires_at'] }, now, limit),
  command: 'report_run.expire',
  changes: () => ({}),
};

/** Makes the runs of schedules, and ends results whose time is over. */
export const reportTasks: readonly DueTask[] = [runScheduledReport, expireReport];
