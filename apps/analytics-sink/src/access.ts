import { rolesIn, tryVerifyPrincipal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { JWK } from 'jose';
import type { CheckAccess } from './server.ts';

/** Services that ask for people only. */
const gateways: readonly string[] = ['rest-gateway'];

/**
 * Lets a service see what it asks for, and a person what its signed grants show: every podcast that is named, or the whole workspace.
 * Anything else looks like an unknown workspace.
 */
export const createCheckAccess =
  (keys: readonly JWK[], clock: () => Date): CheckAccess =>
  async (context, workspaceId, podcastIds) => {
    if (context.principalStatement === undefined) {
      if (gateways.includes(context.caller)) throw new Problem('token_missing');
      return;
    }
    const principal = await tryVerifyPrincipal(context.principalStatement, keys, clock());
    if (!principal) throw new Problem('token_invalid');
    const asked = podcastIds.length === 0 ? [undefined] : podcastIds;
    if (asked.some((podcastId) => (rolesIn(principal, workspaceId, podcastId)?.length ?? 0) === 0))
      throw new Problem('not_found', 'There is no such workspace.');
  };
