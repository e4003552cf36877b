import { tryVerifyPrincipal, type PrincipalKeys } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import { isGateway } from '@longwave/services';
import type { Actor } from './command-request.ts';

/** The actor of a call. Throws `token_missing` or `token_invalid`. */
export type ActorOfCall = (context: RpcContext) => Promise<Actor>;

/**
 * The person of the signed statement, else the calling service itself. A gateway acts for people only.
 * @param keys public keys of statements about principals
 */
export function createActorOfCall(keys: PrincipalKeys, clock: () => Date): ActorOfCall {
  return async ({ principalStatement, caller }) => {
    if (principalStatement !== undefined) {
      const principal = await tryVerifyPrincipal(principalStatement, keys, clock());
      if (!principal) throw new Problem('token_invalid');
      return { kind: 'principal', principal };
    }
    if (isGateway(caller)) throw new Problem('token_missing');
    return { kind: 'service', name: caller };
  };
}
