import type { Actor } from '@longwave/command-pipeline';
import { tryVerifyPrincipal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import { isGateway } from '@longwave/services';
import type { JWK } from 'jose';

/** Who a call acts for: the person of the signed statement, else the calling service itself. */
export async function actorOf(context: RpcContext, keys: readonly JWK[], now: Date): Promise<Actor> {
  if (context.principalStatement !== undefined) {
    const principal = await tryVerifyPrincipal(context.principalStatement, keys, now);
    if (!principal) throw new Problem('token_invalid');
    return { kind: 'principal', principal };
  }
  if (isGateway(context.caller)) throw new Problem('token_missing');
  return { kind: 'service', name: context.caller };
}
