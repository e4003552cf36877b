import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { finishJob, insertJob, type LeaseReport } from '../jobs/job-table.ts';

type ServingPlanRules = Pick<
  Rules<typeof productCatalog>,
  'serving_plan.compile' | 'serving_plan.record_compiled' | 'serving_plan.fail'
>;

/** Rules of the serving plan commands. */
export const servingPlanRules: ServingPlanRules = {
  'serving_plan.compile': ({ workspaceId, subjectId, changes, now }) => ({
    attributes: changes,
    also: (tx, { version }) =>
      insertJob(tx, {
        kind: 'compile_serving_plan',
        workspaceId,
        subjectType: 'serving_plans',
        subjectId,
        subjectVersion: version,
        input: { effective_from: changes.effective_from },
        now,
      }),
  }),

  'serving_plan.record_compiled': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason as LeaseReport),
  }),

  'serving_plan.fail': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason as LeaseReport),
  }),
};
