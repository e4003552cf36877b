import { creates, on, type Examples } from './_example.ts';
import { digest, service } from './_values.ts';
import type { World } from './_world.ts';

/** A report of downloads and delivered ads by day and podcast. */
export const dailyReport = {
  name: 'Daily numbers',
  dimensions: ['day', 'podcast'],
  metrics: ['downloads', 'ads_delivered'],
  counting_basis: 'calendar_utc',
};
export const november = { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' };

const define = (w: World, changes: object = {}) =>
  w.send('report_definition.create', null, { ...dailyReport, ...changes });
export const activeReport = async (w: World, changes: object = {}) =>
  w.send('report_definition.activate', await define(w, changes), {});

export async function queuedRun(w: World, changes: object = {}, window: object = november) {
  const { id, version } = await activeReport(w, changes);
  return w.send('report.run', null, { definition_id: id, definition_version: version, window });
}

async function begunRun(w: World) {
  const queued = await queuedRun(w);
  const lease = await w.lease('run_report', queued.id);
  return { run: await w.send('report_run.begin', queued, {}, service('management'), lease), lease };
}

/** A result without rows. */
const result = {
  row_count: 0,
  files: (['csv', 'jsonl'] as const).map((format) => ({
    ...{ format, storage_key: `reports/x/report.${format}`, sha256: digest, size_bytes: 0 },
  })),
  data_watermark: '2026-11-20T10:00:00.000Z',
  provisional_from: '2026-11-19T00:00:00.000Z',
  methodology_version: '1',
  restated: [],
};

/** Valid requests for the commands of reports. */
export const reportExamples = {
  'report_definition.create': async (w) =>
    creates(
      'report_definitions',
      {
        ...dailyReport,
        filters: { country: ['DE', 'FR'] },
        time_zone: 'Europe/Paris',
        schedule: { every: 'month', hour: 6 },
      },
      w.actor,
    ),
  'report_definition.revise': async (w) =>
    on(await activeReport(w), { metrics: ['downloads', 'listeners'], schedule: { every: 'day', hour: 0 } }, w.actor),
  'report_definition.activate': async (w) => on(await define(w), {}, w.actor),
  'report_definition.archive': async (w) => on(await activeReport(w), {}, w.actor),
  'report.run': async (w) => {
    const { id, version } = await activeReport(w);
    return creates('report_runs', { definition_id: id, definition_version: version, window: november }, w.actor);
  },
  'report_run.schedule': async (w) => {
    const { id } = await activeReport(w, { schedule: { every: 'week', hour: 3 } });
    const { rows } = await w.pool.query<{ next_at: Date }>(
      'select next_at from report_schedule where definition_id = $1',
      [id],
    );
    const scheduledFor = rows[0]!.next_at.toISOString();
    return creates('report_runs', { definition_id: id, scheduled_for: scheduledFor }, service('management'));
  },
  'report_run.begin': async (w) => {
    const queued = await queuedRun(w);
    return on(queued, {}, service('management'), await w.lease('run_report', queued.id));
  },
  'report_run.record': async (w) => {
    const { run, lease } = await begunRun(w);
    return on(run, result, service('management'), lease);
  },
  'report_run.fail': async (w) => {
    const { run, lease } = await begunRun(w);
    return on(run, { problem: { code: 'gave_up', detail: 'Not this time.' } }, service('management'), lease);
  },
  'report_run.cancel': async (w) => on((await begunRun(w)).run, {}, w.actor),
  'report_run.expire': async (w) => {
    const { run, lease } = await begunRun(w);
    return on(await w.send('report_run.record', run, result, service('management'), lease), {}, service('management'));
  },
} satisfies Examples;
