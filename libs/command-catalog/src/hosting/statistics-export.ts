import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { foundProblem, instant, leaseReason, reference, sha256 } from '../fields.ts';

const file = z.strictObject({
  storage_key: z.string(),
  sha256,
  size_bytes: z.int().min(0),
  row_count: z.int().min(0),
});

/** Statistics exports: the download history of a podcast as CSV. */
export const statisticsExports = defineResource({
  type: 'statistics_exports',
  noun: 'statistics_export',
  prefix: 'sxp',
  attributes: z.strictObject({
    podcast_id: reference('pod'),
    kind: z.literal('legacy'),
    /** First UTC day of the export, by the plan's history; absent: from the beginning. */
    history_from: instant.optional(),
    file: file.optional(),
    problem: foundProblem.optional(),
  }),
  states: ['preparing', 'ready', 'failed', 'cancelled'],
  terminalStates: ['ready', 'failed', 'cancelled'],
  links: { podcast: { attribute: 'podcast_id', type: 'podcasts' } },
  /** One at a time per podcast. */
  uniqueAttributes: ['podcast_id'],
});

export const statisticsExportCommands = {
  'statistics_export.start': defineCommand({
    type: 'statistics_export.start',
    subject: 'statistics_exports',
    to: 'preparing',
    changes: z.strictObject({ podcast_id: reference('pod'), history_from: instant.optional() }),
    roles: ['owner', 'analyst'],
    mode: 'async',
    endedBy: 'statistics_export.cancel',
    whileSuspended: 'accepted',
    event: 'statistics_export.started',
    hasRule: true,
    problems: ['export_in_progress'],
    summary: 'Prepares the download history of a podcast as CSV; one at a time.',
  }),
  'statistics_export.record': defineCommand({
    type: 'statistics_export.record',
    subject: 'statistics_exports',
    from: ['preparing'],
    to: 'ready',
    changes: z.strictObject({ file }),
    reason: leaseReason,
    machines: ['management'],
    settles: 'succeeded',
    event: 'statistics_export.recorded',
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'The file is ready for download.',
  }),
  'statistics_export.fail': defineCommand({
    type: 'statistics_export.fail',
    subject: 'statistics_exports',
    from: ['preparing'],
    to: 'failed',
    changes: z.strictObject({ problem: foundProblem }),
    reason: leaseReason,
    machines: ['management'],
    settles: 'failed',
    event: 'statistics_export.failed',
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'The export failed; records the reason.',
  }),
  'statistics_export.cancel': defineCommand({
    type: 'statistics_export.cancel',
    subject: 'statistics_exports',
    from: ['preparing'],
    to: 'cancelled',
    changes: z.strictObject({}),
    roles: ['owner', 'analyst'],
    whileSuspended: 'accepted',
    settles: 'cancelled',
    event: 'statistics_export.cancelled',
    hasRule: true,
    summary: 'Stops an export that is being prepared; another one can be started.',
  }),
} as const;
