import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { finishJob, insertJob, requireLease } from '../../background/job-table.ts';
import { assertFewOpenJobs } from '../../background/open-jobs.ts';

type ErasureCommand = Extract<
  keyof Rules<typeof productCatalog>,
  `listener_data.${string}` | `listener_erasure.${string}`
>;

/** Rules of the commands of erasures. */
export const listenerErasureRules: Pick<Rules<typeof productCatalog>, ErasureCommand> = {
  'listener_data.erase': async ({ tx: before, changes, workspaceId, subjectId, now }) => {
    await assertFewOpenJobs(before, workspaceId, 'erase_listeners', 'erasures');
    return {
      attributes: changes,
      also: (tx, { version }) =>
        insertJob(tx, {
          ...{ kind: 'erase_listeners', workspaceId, subjectType: 'listener_erasures', subjectId },
          ...{ subjectVersion: version, input: {}, now },
        }),
    };
  },

  'listener_erasure.begin': async ({ tx, current, subjectId, reason }) => {
    await requireLease(tx, subjectId, reason);
    return { attributes: current };
  },

  'listener_erasure.record': ({ current, changes, subjectId, reason, now }) => ({
    attributes: { ...current, ...changes, finished_at: now.toISOString() },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'listener_erasure.fail': ({ current, changes, subjectId, reason, now }) => ({
    attributes: { ...current, ...changes, finished_at: now.toISOString() },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),
};
