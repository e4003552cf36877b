import type { IncomingHttpHeaders } from 'node:http';
import { limitWrongCredentials, type LookUpAtAuthServer } from '@longwave/http-kit/limit-wrong-credentials';
import type { Verifier } from '@longwave/http-kit/verify-under-lease';
import { apiScopes, tryVerifyPrincipal, type Principal, type PrincipalKeys } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { Api, Carrier } from '@longwave/rpc/credential';
import { carriedBy } from './carried-by.ts';

export type ManagementScope = (typeof apiScopes.management)[number];

/** A person with an access token for the Management API, or with a session of the web application. */
export interface TokenHolder {
  readonly principal: Principal;
  /** The authenticated client: rate counters belong to it. */
  readonly clientId: string;
  readonly scopes: ReadonlySet<string>;
  /** The grant that the person gave to the client; empty when the token has none. */
  readonly grantId: string;
  /** What the person chose at consent that decisions may be read for. */
  readonly purposes: readonly string[];
  /** Of the account's plan; undefined for a session, whose requests are not counted. */
  readonly requestsPerMinute: number | undefined;
}

/** What a session may do, as far as the person's roles allow it; whoever reads decisions says what for with each request. */
const scopesOfSessions: readonly ManagementScope[] = ['management:read', 'management:write', 'management:diagnostics'];

/**
 * The holder of the token or of the session of a request. Throws `token_missing`, `token_invalid` for every other reason, and
 * `permission_denied` for a session from a page of another site.
 * @param address who sent it, as `SenderOf` names them: after many wrong tokens further ones wait
 */
export type Authenticate = (headers: IncomingHttpHeaders, address: string) => Promise<TokenHolder>;

/**
 * A revocation takes effect at once. Bounds how often wrong tokens are looked up, and accepts only access tokens that were issued for the
 * Management API, and at the host of `baseUrl` only sessions. Throws `temporarily_unavailable` or `timeout` when auth-server does not answer.
 * @param principalKeys public keys of statements about principals
 */
export function createAuthenticate(
  { verify }: Pick<Verifier, 'verify'>,
  principalKeys: PrincipalKeys,
  clock: () => Date,
  baseUrl: string,
  lookUp: LookUpAtAuthServer = limitWrongCredentials(clock),
): Authenticate {
  return async (headers, address) => {
    const { credential, carrier } = carriedBy(headers, baseUrl);
    const isSession = carrier === Carrier.COOKIE;
    // What is wrong in a header may be right in a cookie.
    const outcome = await lookUp(isSession ? `cookie ${credential}` : credential, address, () =>
      verify({ credential, api: Api.MANAGEMENT, carrier }),
    );
    if (outcome?.$case !== 'principal') throw new Problem('token_invalid', 'The token is not valid here.');
    const { statement, scopes, grantId, purposes, clientId, credentialId, plan } = outcome.value;
    const principal = await tryVerifyPrincipal(statement, principalKeys, clock());
    if (!principal || !plan)
      throw new Error('auth-server answered a principal without a valid statement or without a plan');
    return {
      principal,
      clientId: clientId || credentialId,
      scopes: new Set<string>(isSession ? scopesOfSessions : scopes),
      grantId,
      purposes,
      requestsPerMinute: isSession ? undefined : plan.requestsPerMinute,
    };
  };
}

const bootstrap: ManagementScope = 'management:bootstrap';

/**
 * Throws `insufficient_scope` unless the token has the scope. A token with the scope of provisioning can do nothing else, whatever other
 * scopes it has.
 */
export function requireScope({ scopes }: Pick<TokenHolder, 'scopes'>, scope: ManagementScope): void {
  if (!scopes.has(scope)) throw new Problem('insufficient_scope', `This request needs the scope ${scope}.`);
  if (scope === bootstrap && scopes.size > 1)
    throw new Problem('insufficient_scope', `This request needs a token with the scope ${bootstrap} alone.`);
  if (scope !== bootstrap && scopes.has(bootstrap))
    throw new Problem('insufficient_scope', `A token with the scope ${bootstrap} can only provision a workspace.`);
}
