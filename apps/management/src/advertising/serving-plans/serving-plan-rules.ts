import type { productCatalog, CommandWithRule } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { finishJob, insertJob } from '../../background/job-table.ts';
import { requireResources } from '../../workspace/require-resources.ts';
import { copyPlanContent } from './plan-content-table.ts';

type Catalog = typeof productCatalog;
type ServingPlanRules = Pick<Rules<Catalog>, Extract<CommandWithRule<Catalog>, `serving_plan.${string}`>>;

/** States other than `superseded`: a rollback needs a plan that was in use before. */
const notSuperseded = ['compiling', 'ready', 'published', 'rolled_back', 'failed'];

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
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'serving_plan.fail': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'serving_plan.rollback': async ({ tx, workspaceId, current, changes: { target_id: id } }) => {
    await requireResources(tx, {
      workspaceId,
      type: 'serving_plans',
      ids: [id],
      path: '/changes/target_id',
      unless: notSuperseded,
    });
    return { attributes: { ...current, target_id: id } };
  },

  'serving_plan.republish': async ({ tx: held, workspaceId, subjectId, changes: { republishes: id }, now }) => {
    const [target] = await requireResources(held, {
      workspaceId,
      type: 'serving_plans',
      ids: [id],
      path: '/changes/republishes',
      unless: notSuperseded,
    });
    const { storage_key, digest, counts } = target!.attributes;
    return {
      attributes: { effective_from: now.toISOString(), storage_key, digest, counts, republishes: id },
      also: (tx) => copyPlanContent(tx, id, subjectId),
    };
  },
};
