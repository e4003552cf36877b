import { createAuthenticateMachine, type MachineTokenOptions } from '@longwave/http-kit';
import { audienceTokenClaims, type AudienceScope, type AudienceTokenClaims } from '@longwave/principal';
import { Problem } from '@longwave/problems';

/** The producer behind a token. */
export interface Client {
  readonly tokenId: string;
  readonly producer: string;
  /** Other workspaces do not exist for this client. */
  readonly workspaces: ReadonlySet<string>;
  readonly scopes: ReadonlySet<string>;
}

/** @param address who sent it, as `SenderOf` names them: after many wrong tokens further ones wait */
export type Authenticate = (authorization: string | undefined, address: string) => Promise<Client>;

/** Checks a request's token, as `createAuthenticateMachine` says, and answers whose it is. */
export const createAuthenticate = (options: MachineTokenOptions<AudienceTokenClaims>): Authenticate => {
  const authenticate = createAuthenticateMachine(audienceTokenClaims, options);
  return async (authorization, address) => {
    const claims = await authenticate(authorization, address);
    return {
      tokenId: claims.jti,
      producer: claims.producer,
      workspaces: new Set(claims.workspaces),
      scopes: new Set(claims.scope.split(' ')),
    };
  };
};

/** Throws `insufficient_scope` unless the client has the scope. */
export function requireScope(client: Client, scope: AudienceScope): void {
  if (!client.scopes.has(scope)) throw new Problem('insufficient_scope', `This request needs the scope ${scope}.`);
}
