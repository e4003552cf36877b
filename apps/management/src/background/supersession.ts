import type { Due } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { DueTask } from './due-task.ts';
import { listSuperseded, type SupersedingPlans } from './supersession-table.ts';

type SupersedeCommand = 'break_plan.supersede' | 'serving_plan.supersede' | 'policy.supersede';

/** Finds and ends the plans, or policies, of one type that others replaced. */
export interface Supersession {
  /** @param workspaceId undefined: all workspaces */
  readonly list: (pool: Pool, workspaceId: string | undefined, now: Date, limit: number) => Promise<readonly Due[]>;
  readonly command: SupersedeCommand;
  /** Ends the plans whose successor was published for a later time, when that time has come. */
  readonly task: DueTask<SupersedeCommand>;
}

export function createSupersession(plans: SupersedingPlans): Supersession {
  const { noun } = plans;
  const list: Supersession['list'] = (pool, workspaceId, now, limit) =>
    listSuperseded(pool, plans, workspaceId, now, limit);
  const command = `${noun}.supersede` as const;
  return {
    list,
    command,
    task: {
      name: `supersede-${noun.replace('_', '-')}`,
      findDue: (pool, now, limit) => list(pool, undefined, now, limit),
      command,
      changes: () => ({}),
    },
  };
}
