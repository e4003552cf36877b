import { roles as everyRole, type Role } from './roles.ts';

/**
 * A holder of roles in a workspace of its own and, by grants, in others. `Plan` is the type of the plans of the workspaces' owners; a
 * principal's statement has none.
 */
export interface RoleHolder<Plan = undefined> {
  readonly workspace_id: string;
  /** Roles in the own workspace. */
  readonly roles: readonly string[];
  readonly plan?: Plan | undefined;
  /** A credential that may only read. */
  readonly read_only?: boolean;
  readonly grants: readonly {
    readonly workspace_id: string;
    /** Absent: everything in the workspace. */
    readonly podcast_id?: string | undefined;
    readonly roles: readonly string[];
    readonly plan?: Plan | undefined;
  }[];
}

/** The workspace of a resource and its podcast, if it has one. */
export interface AccessTarget {
  readonly workspaceId: string;
  /** The podcast that it belongs to, or is; undefined for what belongs to none, and for the workspace itself. */
  readonly podcastId: string | undefined;
}

/** The requested access. */
export interface AccessNeed {
  /** One of these roles is enough; absent: any role, as for reading. */
  readonly roles?: readonly Role[];
  /** Whether something changes; a read-only credential never permits that. */
  readonly isWrite?: boolean;
}

export interface AccessDecision<Plan = undefined> {
  /** `unknown`: the target must look as if it did not exist; `denied`: the holder sees the target without this access. */
  readonly outcome: 'unknown' | 'denied' | 'permitted';
  /** All roles that the holder has there. */
  readonly roles: readonly string[];
  /** Plan of the workspace's owner. */
  readonly plan: Plan | undefined;
}

/**
 * Decides what a holder of roles may do with a target. Gateways, management, the command pipeline and the analytics sink all decide access
 * by this function.
 *
 * In the own workspace the own roles apply, and nothing is unknown. In another one the roles of all grants that cover the target add up;
 * without any role there, everything is unknown. A grant for one podcast does not cover the rest of its workspace.
 */
export function decideAccess<Plan = undefined>(
  holder: RoleHolder<Plan>,
  target: AccessTarget,
  { roles: needed = everyRole, isWrite = false }: AccessNeed = {},
): AccessDecision<Plan> {
  const isOwn = holder.workspace_id === target.workspaceId;
  const covering = isOwn
    ? [holder]
    : holder.grants.filter(
        (grant) =>
          grant.workspace_id === target.workspaceId &&
          (grant.podcast_id === undefined || grant.podcast_id === target.podcastId),
      );
  const held = [...new Set(covering.flatMap(({ roles }) => roles))];
  if (!isOwn && held.length === 0) return { outcome: 'unknown', roles: [], plan: undefined };
  const isAllowed = needed.some((role) => held.includes(role)) && !(isWrite && holder.read_only === true);
  return { outcome: isAllowed ? 'permitted' : 'denied', roles: held, plan: covering[0]?.plan };
}
