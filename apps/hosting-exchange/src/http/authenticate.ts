import { createAuthenticateMachine, type MachineTokenOptions } from '@longwave/http-kit';
import { exchangeTokenClaims, type ExchangeTokenClaims } from '@longwave/principal';
import { Problem } from '@longwave/problems';

export type ExchangeScope = 'exchange:write' | 'exchange:read';

/** The hosting platform behind a token. */
export interface Client {
  readonly tokenId: string;
  readonly clientId: string;
  /** The one workspace and the one authority for which it speaks. */
  readonly workspaceId: string;
  readonly authorityId: string;
  readonly scopes: ReadonlySet<string>;
}

/** @param address who sent it, as `SenderOf` names them: after many wrong tokens further ones wait */
export type Authenticate = (authorization: string | undefined, address: string) => Promise<Client>;

/** Checks a request's token, as `createAuthenticateMachine` says, and answers whose it is. */
export const createAuthenticate = (options: MachineTokenOptions<ExchangeTokenClaims>): Authenticate => {
  const authenticate = createAuthenticateMachine(exchangeTokenClaims, options);
  return async (authorization, address) => {
    const claims = await authenticate(authorization, address);
    return {
      tokenId: claims.jti,
      clientId: claims.client_id,
      workspaceId: claims.workspace,
      authorityId: claims.authority,
      scopes: new Set(claims.scope.split(' ')),
    };
  };
};

/** Throws `insufficient_scope` unless the client may write, or for reading has any scope of this API. */
export function requireScope(client: Client, scope: ExchangeScope): void {
  const { scopes } = client;
  const allowed = scopes.has('exchange:write') || (scope === 'exchange:read' && scopes.has('exchange:read'));
  if (!allowed) throw new Problem('insufficient_scope', `This request needs the scope ${scope}.`);
}
