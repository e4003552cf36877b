import {
  decideAccess,
  type AccessDecision,
  type AccessNeed,
  type AccessTarget,
  type Role,
  type RoleHolder,
} from '@longwave/principal';
import { productCatalog, type CommandDefinition, type ProductCommand } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import type { Plan } from '@longwave/rpc/credential';
import type { Caller } from './asker.ts';

/** The rights of a caller on one object, and the plan that applies to it. */
export interface Access extends AccessTarget {
  readonly roles: readonly string[];
  /** That of the workspace's owner. */
  readonly plan: Plan;
}

type Holder = Pick<Caller, 'workspaceId' | 'roles' | 'plan' | 'grants'>;

/** The caller in the words of `decideAccess`: on the wire an empty podcast means the whole workspace. */
const holderOf = ({ workspaceId, roles, plan, grants }: Holder): RoleHolder<Plan> => ({
  workspace_id: workspaceId,
  roles,
  plan,
  grants: grants.map((grant) => ({
    workspace_id: grant.workspaceId,
    podcast_id: grant.podcastId === '' ? undefined : grant.podcastId,
    roles: grant.roles,
    plan: grant.plan,
  })),
});

/** Decides what a caller may do with something in a workspace. A token that may only read was refused before, with a sentence of its own. */
export const decideFor = (caller: Holder, target: AccessTarget, need?: AccessNeed): AccessDecision<Plan> =>
  decideAccess(holderOf(caller), target, need);

/** Access to something in a workspace that belongs to a podcast or to none; undefined when the caller may see nothing there. */
export function accessTo(caller: Holder, workspaceId: string, podcastId: string | undefined): Access | undefined {
  const { outcome, roles, plan } = decideFor(caller, { workspaceId, podcastId });
  return outcome === 'unknown' || !plan ? undefined : { workspaceId, podcastId, roles, plan };
}

/**
 * Throws `permission_denied` unless the caller has one of these roles for the object, or else in its own workspace. Management decides
 * again when the command comes, because no service may trust what another one decided for a person.
 */
export function requireRoles(caller: Holder, access: AccessTarget | undefined, roles: readonly Role[]): void {
  const target = access ?? { workspaceId: caller.workspaceId, podcastId: undefined };
  if (decideFor(caller, target, { roles }).outcome !== 'permitted')
    throw new Problem('permission_denied', "You don't have the permission to do this.");
}

/** Throws `permission_denied` unless one of the caller's roles, for the object, may send the command. */
export function requireCommand(caller: Holder, access: AccessTarget | undefined, type: ProductCommand): void {
  const { roles }: CommandDefinition = productCatalog.commands[type];
  requireRoles(caller, access, roles);
}
