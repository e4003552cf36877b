import { analyticsRoles, decideAccess, tryVerifyPrincipal, type AccessNeed } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import { isGateway } from '@longwave/services';
import type { JWK } from 'jose';

/** Throws the problem of a caller that may not see the numbers of these podcasts; one undefined, or none: of the whole workspace. */
export type CheckAccess = (
  context: RpcContext,
  workspaceId: string,
  podcastIds: readonly (string | undefined)[],
) => Promise<void>;

/**
 * Lets a service see what it asks for, and a person what its signed grants show: every podcast that is named, or the whole workspace.
 * Anything else looks like an unknown workspace. What is visible takes a role of analytics too, except the numbers of one podcast:
 * its milestones are for everybody who sees it (contract, Authentication, rule 7).
 */
export const createCheckAccess =
  (keys: readonly JWK[], clock: () => Date): CheckAccess =>
  async (context, workspaceId, podcastIds) => {
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
    if (!isOnePodcast && !asked.every((podcastId) => isPermitted(podcastId, { roles: analyticsRoles })))
      throw new Problem('permission_denied', 'You may not see analytics here.');
  };
