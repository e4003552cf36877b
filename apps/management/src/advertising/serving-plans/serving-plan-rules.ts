import type { productCatalog, CommandWithRule } from '@longwave/command-catalog';
import { listLinked, lockResource, type Rules } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { finishJob, insertJob } from '../../background/job-table.ts';
import { requireResources } from '../../workspace/require-resources.ts';
import { copyPlanContent } from './plan-content-table.ts';
import { publicationOf } from './renew-policies.ts';
import { storePlanPolicies } from './plan-policies.ts';

type Catalog = typeof productCatalog;
type ServingPlanRules = Pick<Rules<Catalog>, Extract<CommandWithRule<Catalog>, `serving_plan.${string}`>>;

/** States other than `superseded`: a rollback needs a plan that was in use before. */
const notSuperseded = ['compiling', 'ready', 'published', 'rolled_back', 'failed'];

/** Rules of the serving plan commands. A plan decides under the policies that are in force when it is published. */
export const servingPlanRules = ({
  pool,
  store,
}: {
  readonly pool: Pool;
  readonly store: ObjectStore;
}): ServingPlanRules => ({
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

  'serving_plan.publish': {
    prepare: async ({ workspaceId }) => {
      const policies = await storePlanPolicies(pool, store, workspaceId);
      return ({ current }) => ({ attributes: { ...current, ...policies } });
    },
  },

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

  'serving_plan.republish': {
    prepare: async ({ workspaceId, changes: { republishes: id } }) => {
      const policies = await storePlanPolicies(pool, store, workspaceId);
      return async ({ tx: held, subjectId, now }) => {
        const [target] = await requireResources(held, {
          workspaceId,
          type: 'serving_plans',
          ids: [id],
          path: '/changes/republishes',
          unless: notSuperseded,
        });
        const { storage_key, digest, counts } = target!.attributes;
        return {
          attributes: { effective_from: now.toISOString(), storage_key, digest, counts, republishes: id, ...policies },
          also: (tx) => copyPlanContent(tx, id, subjectId),
        };
      };
    },
  },

  'serving_plan.renew_policies': {
    prepare: async ({ workspaceId, changes: { renews: id } }) => {
      const policies = await storePlanPolicies(pool, store, workspaceId);
      return async ({ tx: held, subjectId }) => {
        // Locked: of two reactions at once one renews the plan, before either goes on to a later plan.
        const target = await lockResource(held, workspaceId, 'serving_plans', id);
        if (target?.lifecycle_state !== 'published')
          throw new Problem('state_not_allowed', 'The serving plan is not published.');
        if ((await listLinked(held, workspaceId, 'serving_plans', 'renews', id)).length > 0)
          throw new Problem('state_not_allowed', 'The serving plan was published again under other policies.');
        const { effective_from, storage_key, digest, counts, policies_digest } = target.attributes;
        const published_at = publicationOf(target).toISOString();
        if (policies_digest === policies.policies_digest)
          throw new Problem('state_not_allowed', 'The serving plan has the policies in force already.');
        return {
          attributes: { effective_from, storage_key, digest, counts, renews: id, published_at, ...policies },
          also: (tx) => copyPlanContent(tx, id, subjectId),
        };
      };
    },
  },
});
