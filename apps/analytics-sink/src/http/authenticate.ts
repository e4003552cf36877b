import { limitWrongKeys } from '@longwave/http-kit';
import {
  audienceTokenClaims,
  bearerOf,
  tryVerifyAccessToken,
  type AudienceScope,
  type AudienceTokenClaims,
} from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { JWK } from 'jose';

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
  readonly isActive: (claims: AudienceTokenClaims) => Promise<boolean>;
}): Authenticate => {
  const { findKey, issuer, audience, clock, isActive } = options;
  const lookUp = limitWrongKeys<AudienceTokenClaims | undefined>({
    clock,
    judge: (claims) => (claims ? 'accepted' : 'unknown'),
    unknown: undefined,
  });
  const verify = async (token: string) => {
    const expected = { findKey, issuer, audience, now: clock() };
    const claims = await tryVerifyAccessToken(token, audienceTokenClaims, expected);
    return claims && (await isActive(claims)) ? claims : undefined;
  };
  return async (authorization, address) => {
    if (authorization === undefined) throw new Problem('token_missing', 'Send a token: Authorization: Bearer ….');
    const token = bearerOf(authorization);
    const claims = token === undefined ? undefined : await lookUp(token, address, () => verify(token));
    if (!claims) throw new Problem('token_invalid', 'The token is not valid here.');
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
