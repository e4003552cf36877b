import { bearerOf, tryVerifyAccessToken, type AccessTokenClaims } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { JWK } from 'jose';
import type { z } from 'zod';
import { limitWrongKeys } from './wrong-keys.ts';

export interface MachineTokenOptions<C> {
  readonly findKey: (kid: string) => JWK | undefined;
  readonly issuer: string;
  readonly audience: string;
  readonly clock: () => Date;
  /** Whether auth-server says that the token still counts. */
  readonly isActive: (claims: C) => Promise<boolean>;
}

/**
 * Checks the token of a machine's request: its signature, audience and expiry here, and at auth-server whether it still counts (ADR 17). A
 * wrong token that is repeated is refused from memory. Throws `token_missing`, or `token_invalid` for every other reason.
 * @param form the claims that the API needs
 * @returns from the `Authorization` header and the address of the sender, as `SenderOf` names it, the claims; after many wrong tokens of an
 *   address further ones wait
 */
export function createAuthenticateMachine<C extends AccessTokenClaims>(
  form: z.ZodType<C>,
  options: MachineTokenOptions<C>,
): (authorization: string | undefined, address: string) => Promise<C> {
  const { findKey, issuer, audience, clock, isActive } = options;
  const lookUp = limitWrongKeys<C | undefined>({
    clock,
    judge: (claims) => (claims ? 'accepted' : 'unknown'),
    unknown: undefined,
  });
  const verify = async (token: string) => {
    const claims = await tryVerifyAccessToken(token, form, { findKey, issuer, audience, now: clock() });
    return claims && (await isActive(claims)) ? claims : undefined;
  };
  return async (authorization, address) => {
    if (authorization === undefined) throw new Problem('token_missing', 'Send a token: Authorization: Bearer ….');
    const token = bearerOf(authorization);
    const claims = token === undefined ? undefined : await lookUp(token, address, () => verify(token));
    if (!claims) throw new Problem('token_invalid', 'The token is not valid here.');
    return claims;
  };
}
