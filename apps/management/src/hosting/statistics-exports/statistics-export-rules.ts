import type { productCatalog } from '@longwave/command-catalog';
import { listLinked, type Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { finishJob, insertJob, stopJobs } from '../../background/job-table.ts';

type ExportRules = Pick<
  Rules<typeof productCatalog>,
  'statistics_export.start' | 'statistics_export.record' | 'statistics_export.fail' | 'statistics_export.cancel'
>;
/** Rules of the statistics export commands. */
export const statisticsExportRules: ExportRules = {
  'statistics_export.start': async ({ tx, workspaceId, subjectId, changes, now }) => {
    const exports = await listLinked(tx, workspaceId, 'statistics_exports', 'podcast', changes.podcast_id);
    if (exports.some(({ lifecycle_state: state }) => state === 'preparing'))
      throw new Problem('export_in_progress', 'An export is already being prepared.');
    return {
      attributes: { ...changes, kind: 'legacy' },
      also: (inner, { version }) =>
        insertJob(inner, {
          kind: 'export_statistics',
          workspaceId,
          subjectType: 'statistics_exports',
          subjectId,
          subjectVersion: version,
          input: {},
          now,
        }),
    };
  },

  'statistics_export.record': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'statistics_export.fail': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'statistics_export.cancel': ({ current, subjectId }) => ({
    attributes: current,
    also: (tx) => stopJobs(tx, subjectId),
  }),
};
