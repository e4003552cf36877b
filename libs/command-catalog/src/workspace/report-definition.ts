import { moneyDimensions, moneyMetrics, reportBases, reportDimensions, reportMetricNames } from '@longwave/events';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { shortText } from '../fields.ts';

/** Roles that define and run reports. */
export const reportRoles = ['trafficker', 'sales', 'finance', 'owner', 'admin'] as const;

const isEachOnce = (names: readonly unknown[]) => new Set(names).size === names.length;
const once = { message: 'Name each one once.' };

/** Keys of a dimension, one of which a row must have. */
const keys = z.array(z.string().min(1).max(255)).min(1).max(200).optional();

/** Filters by dimension; all of them hold. */
const filters = z.strictObject({
  podcast: keys,
  episode: keys,
  advertiser: keys,
  campaign: keys,
  line_item: keys,
  type: keys,
  creative: keys,
  break: keys,
  position: keys,
  slot: keys,
  country: keys,
  region: keys,
  app: keys,
  device: keys,
  platform: keys,
  operating_system: keys,
});

/** When runs are made by themselves: each over the whole day, week (from Monday on) or month before. */
const schedule = z.strictObject({
  every: z.enum(['day', 'week', 'month']),
  /** Local hour of the first day after the period, so that late facts are in. */
  hour: z.int().min(0).max(23),
});

/** Every dimension once. */
const allDimensions = [...new Set([...reportDimensions, ...moneyDimensions])];

/** What a run counts, as its definition's version says it; docs/reports.md has the table of dimensions and metrics. */
export const reportSettings = {
  /** Keys of the rows, in the order of the columns; none: one row with the totals. */
  dimensions: z.array(z.enum(allDimensions)).max(8).refine(isEachOnce, once),
  metrics: z
    .array(z.enum([...reportMetricNames, ...moneyMetrics]))
    .min(1)
    .refine(isEachOnce, once),
  filters: filters.default({}),
  /** The window in which downloads and listeners are counted (docs/counting.md); ads are counted in `calendar_utc` only. */
  counting_basis: z.enum(reportBases),
};

/** IANA name of the zone whose days, weeks and months are counted; whole hours off UTC. */
const timeZone = z.string().min(1).max(64);

/** Report definitions: what a report counts, and when it is made by itself. */
export const reportDefinitions = defineResource({
  type: 'report_definitions',
  noun: 'report_definition',
  prefix: 'rpd',
  attributes: z.strictObject({
    name: shortText,
    ...reportSettings,
    time_zone: timeZone,
    schedule: schedule.optional(),
  }),
  states: ['draft', 'active', 'archived'],
  terminalStates: ['archived'],
  links: {},
  uniqueAttributes: [],
});

const base = { subject: 'report_definitions', roles: reportRoles, hasRule: true } as const;

export const reportDefinitionCommands = {
  'report_definition.create': defineCommand({
    ...base,
    type: 'report_definition.create',
    to: 'draft',
    changes: z.strictObject({
      name: shortText,
      ...reportSettings,
      time_zone: timeZone.optional(),
      schedule: schedule.optional(),
    }),
    event: 'report_definition.created',
    problems: ['validation_failed'],
    summary: 'Defines a report. Its days are those of the workspace’s time zone unless it names another.',
  }),
  'report_definition.revise': defineCommand({
    ...base,
    type: 'report_definition.revise',
    from: ['draft', 'active'],
    changes: z
      .strictObject({
        name: shortText,
        ...reportSettings,
        filters,
        time_zone: timeZone,
        /** Null ends the schedule. */
        schedule: schedule.nullable(),
      })
      .partial(),
    versionGuard: 'required',
    event: 'report_definition.revised',
    problems: ['validation_failed'],
    summary: 'Changes a report. Runs that were asked for keep the version that they name.',
  }),
  'report_definition.activate': defineCommand({
    ...base,
    type: 'report_definition.activate',
    from: ['draft'],
    to: 'active',
    changes: z.strictObject({}),
    event: 'report_definition.activated',
    summary: 'Lets a report be run, and begins its schedule.',
  }),
  'report_definition.archive': defineCommand({
    ...base,
    type: 'report_definition.archive',
    from: ['draft', 'active'],
    to: 'archived',
    changes: z.strictObject({}),
    event: 'report_definition.archived',
    summary: 'Ends a report and its schedule; runs and their results stay.',
  }),
} as const;
