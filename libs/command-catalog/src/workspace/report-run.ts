import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { foundProblem, instant, leaseReason, reference, sha256, timeWindow } from '../fields.ts';
import { reportDefinitions, reportRoles, reportSettings } from './report-definition.ts';

/** Formats in which every result is written. */
export const reportFormats = ['csv', 'jsonl'] as const;

const file = z.strictObject({
  format: z.enum(reportFormats),
  storage_key: z.string(),
  sha256,
  size_bytes: z.int().min(0),
});

/** What a run found, and how it was counted. */
const result = {
  /** Without the header of the CSV. */
  row_count: z.int().min(0),
  files: z.array(file).length(reportFormats.length),
  /** Facts up to this time are counted: `complete_until` of the sink when it read them. */
  data_watermark: instant,
  /** Numbers from here on may still change. */
  provisional_from: instant,
  /** The hour in which the watermark lies, when the window goes on beyond it: it and later hours lack facts. */
  incomplete_from: instant.optional(),
  methodology_version: z.string(),
  /** Hours of the workspace that changed after they were closed, the latest restatement first; at most 100. */
  restated: z.array(z.strictObject({ from: instant, to: instant, restated_at: instant })).max(100),
  /** The cut, when the plan's history does not reach back to the window's start. */
  history_window: z.strictObject({ from: instant, requested_from: instant, days: z.int() }).optional(),
};

const requested = {
  definition_id: reference(reportDefinitions.prefix),
  definition_version: z.int().min(1),
  window: timeWindow,
};

/** Report runs: one result of a version of a report definition, over a window. */
export const reportRuns = defineResource({
  type: 'report_runs',
  noun: 'report_run',
  commandNoun: 'report',
  prefix: 'rpr',
  attributes: z.strictObject({
    ...requested,
    ...reportSettings,
    filters: reportSettings.filters.unwrap(),
    time_zone: z.string(),
    /** The person or service who asked. */
    requested_by: z.string(),
    /** The time of the schedule that made the run. */
    scheduled_for: instant.optional(),
    ...z.strictObject(result).partial().shape,
    /** When its files are removed. */
    expires_at: instant.optional(),
    problem: foundProblem.optional(),
  }),
  states: ['queued', 'running', 'ready', 'failed', 'expired', 'cancelled'],
  terminalStates: ['failed', 'expired', 'cancelled'],
  links: { definition: { attribute: 'definition_id', type: 'report_definitions' } },
  uniqueAttributes: [],
});

const base = { subject: 'report_runs', hasRule: true } as const;
const report = { ...base, reason: leaseReason, machines: ['management'], problems: ['lease_lost'] } as const;

export const reportRunCommands = {
  'report.run': defineCommand({
    ...base,
    type: 'report.run',
    to: 'queued',
    changes: z.strictObject(requested),
    roles: reportRoles,
    mode: 'async',
    endedBy: 'report_run.cancel',
    event: 'report.requested',
    problems: ['link_not_found', 'state_not_allowed', 'validation_failed', 'rate_limited', 'analytics_unavailable'],
    externalEffect: 'The result is written to the object store and removed when the run expires.',
    summary:
      'Counts a report over a window of whole hours, by the version of the definition that is named. A workspace has at most 20 runs that wait or are counted.',
  }),
  'report_run.schedule': defineCommand({
    ...base,
    type: 'report_run.schedule',
    to: 'queued',
    changes: z.strictObject({ definition_id: requested.definition_id, scheduled_for: instant }),
    machines: ['management'],
    mode: 'async',
    endedBy: 'report_run.cancel',
    event: 'report_run.scheduled',
    problems: ['link_not_found', 'state_not_allowed', 'rate_limited'],
    summary: 'The clock makes a run of an active report over the last whole period of its schedule.',
  }),
  'report_run.begin': defineCommand({
    ...report,
    type: 'report_run.begin',
    from: ['queued'],
    to: 'running',
    changes: z.strictObject({}),
    event: 'report_run.started',
    summary: 'A worker has begun to count the report.',
  }),
  'report_run.record': defineCommand({
    ...report,
    type: 'report_run.record',
    from: ['running'],
    to: 'ready',
    changes: z.strictObject(result),
    settles: 'succeeded',
    event: 'report_run.recorded',
    summary: 'The result is ready for download.',
  }),
  'report_run.fail': defineCommand({
    ...report,
    type: 'report_run.fail',
    from: ['queued', 'running'],
    to: 'failed',
    changes: z.strictObject({ problem: foundProblem }),
    settles: 'failed',
    event: 'report_run.failed',
    summary: 'The report could not be counted; records the reason.',
  }),
  'report_run.cancel': defineCommand({
    ...base,
    type: 'report_run.cancel',
    from: ['queued', 'running'],
    to: 'cancelled',
    changes: z.strictObject({}),
    roles: reportRoles,
    settles: 'cancelled',
    event: 'report_run.cancelled',
    problems: ['permission_denied'],
    externalEffect: 'What was written of the result is removed.',
    summary: 'Stops a run; for whoever asked for it, and for owners and admins.',
  }),
  'report_run.expire': defineCommand({
    ...base,
    hasRule: false,
    type: 'report_run.expire',
    from: ['ready'],
    to: 'expired',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'report_run.expired',
    externalEffect: 'The files of the result are removed.',
    summary: 'The clock ends a result whose time is over.',
  }),
} as const;
