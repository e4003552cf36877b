import type { Plan } from '@longwave/rpc/credential';
import type { Caller } from './authenticate.ts';

/** What a caller may do with one object, and whose plan decides on it. */
export interface Access {
  /** Where the object lives. */
  readonly workspaceId: string;
  /** The podcast that it belongs to, or is. */
  readonly podcastId: string | undefined;
  readonly roles: readonly string[];
  /** That of the workspace's owner. */
  readonly plan: Plan;
}

/**
 * Access to something in a workspace that belongs to a podcast or to none; undefined when the caller may see nothing there.
 * The rule is the one of `rolesIn` (libs/principal), over the wire form that carries the plans.
 */
export function accessTo(
  caller: Pick<Caller, 'workspaceId' | 'roles' | 'plan' | 'grants'>,
  workspaceId: string,
  podcastId: string | undefined,
): Access | undefined {
  if (workspaceId === caller.workspaceId) return { workspaceId, podcastId, roles: caller.roles, plan: caller.plan };
  const fitting = caller.grants.filter(
    (grant) => grant.workspaceId === workspaceId && (grant.podcastId === '' || grant.podcastId === podcastId),
  );
  const plan = fitting[0]?.plan;
  return plan && { workspaceId, podcastId, roles: [...new Set(fitting.flatMap(({ roles }) => roles))], plan };
}
