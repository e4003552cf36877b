import {
  analyticsRoles,
  decideAccess,
  tryVerifyPrincipal,
  type AccessNeed,
  type PrincipalKeys,
  type Role,
} from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import { isGateway } from '@longwave/services';

/**
 * Throws a problem when the caller may not see the numbers of these podcasts. An undefined one, or an empty list, is the whole workspace.
 * @param roles one of which is needed for more than one podcast; those of analytics by default
 */
export type CheckAccess = (
  context: RpcContext,
  workspaceId: string,
  podcastIds: readonly (string | undefined)[],
  roles?: readonly Role[],
) => Promise<void>;

/**
 * A service sees every workspace; a person sees the podcasts and workspaces of its signed grants, and any other one looks like an unknown
 * workspace. Numbers of several podcasts or of a workspace need a role as well; those of one podcast do not, because
 * everybody who sees a podcast sees its milestones.
 */
export const createCheckAccess =
  (keys: PrincipalKeys, clock: () => Date): CheckAccess =>
  async (context, workspaceId, podcastIds, roles = analyticsRoles) => {
    if (context.principalStatement === undefined) {
      if (isGateway(context.caller)) throw new Problem('token_missing');
      return;
    }
    const principal = await tryVerifyPrincipal(context.principalStatement, keys, clock());
    if (!principal) throw new Problem('token_invalid');
    const asked = podcastIds.length === 0 ? [undefined] : podcastIds;
    const isPermitted = (podcastId: string | undefined, need?: AccessNeed) =>
      decideAccess(principal, { workspaceId, podcastId }, need).outcome === 'permitted';
    if (!asked.every((podcastId) => isPermitted(podcastId)))
      throw new Problem('not_found', 'There is no such workspace.');
    const isOnePodcast = asked.length === 1 && asked[0] !== undefined;
    if (!isOnePodcast && !asked.every((podcastId) => isPermitted(podcastId, { roles })))
      throw new Problem('permission_denied', 'You may not see analytics here.');
  };
