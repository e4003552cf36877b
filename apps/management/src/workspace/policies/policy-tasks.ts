import { listDue } from '@longwave/command-pipeline';
import type { DueTask } from '../../background/due-task.ts';
import { createSupersession } from '../../background/supersession.ts';

/** Brings submitted policies into force at their time. */
export const activatePolicies: DueTask<'policy.activate'> = {
  name: 'activate-policy',
  findDue: (pool, now, limit) =>
    listDue(pool, { type: 'policies', states: ['scheduled'], at: ['effective_at'] }, now, limit),
  command: 'policy.activate',
  changes: () => ({}),
};

/** Active policies that a newer active one of the same kind and scope replaces. */
export const supersededPolicies = createSupersession({
  noun: 'policy',
  effectiveFrom: 'effective_at',
  replaces: `newer.attributes -> 'kind' = older.attributes -> 'kind' and newer.attributes -> 'scope' = older.attributes -> 'scope'
    and (instant_of(older.attributes ->> 'effective_at'), older.id) < (instant_of(newer.attributes ->> 'effective_at'), newer.id)`,
});
