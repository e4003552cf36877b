import { limitWrongKeys } from '@longwave/http-kit';
import { bearerOf, exchangeTokenClaims, tryVerifyAccessToken, type ExchangeTokenClaims } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { JWK } from 'jose';

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

/**
 * Checks a request's token: its signature, audience and expiry here, and at auth-server whether it still counts (ADR 17). A wrong token that
 * is repeated is refused from memory. Throws `token_missing`, or `token_invalid` for every other reason.
 */
export const createAuthenticate = (options: {
  readonly findKey: (kid: string) => JWK | undefined;
  readonly issuer: string;
  readonly audience: string;
  readonly clock: () => Date;
  /** Whether auth-server says that the token still counts. */
  readonly isActive: (claims: ExchangeTokenClaims) => Promise<boolean>;
}): Authenticate => {
  const { findKey, issuer, audience, clock, isActive } = options;
  const lookUp = limitWrongKeys<ExchangeTokenClaims | undefined>({
    clock,
    judge: (claims) => (claims ? 'accepted' : 'unknown'),
    unknown: undefined,
  });
  const verify = async (token: string) => {
    const expected = { findKey, issuer, audience, now: clock() };
    const claims = await tryVerifyAccessToken(token, exchangeTokenClaims, expected);
    return claims && (await isActive(claims)) ? claims : undefined;
  };
  return async (authorization, address) => {
    if (authorization === undefined) throw new Problem('token_missing', 'Send a token: Authorization: Bearer ….');
    const token = bearerOf(authorization);
    const claims = token === undefined ? undefined : await lookUp(token, address, () => verify(token));
    if (!claims) throw new Problem('token_invalid', 'The token is not valid here.');
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
