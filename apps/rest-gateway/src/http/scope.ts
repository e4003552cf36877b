import type { Caller } from '@longwave/hosting-client';
import { protectedResourceUrl, type ProtectedResource } from '@longwave/http-kit';
import { apiScopes, type RestScope } from '@longwave/principal';
import { RestFailure } from './rest-failure.ts';

/** REST API v1 for partner applications. */
export const protectedApi = (baseUrl: string): ProtectedResource => ({
  resource: `${baseUrl}/api/v1`,
  name: 'Longwave REST API v1',
  issuer: baseUrl,
  scopes: apiScopes.rest,
  documentation: `${baseUrl}/api-docs`,
});

/** Whether scopes decide what a credential may do: those of partners' access tokens. */
export const hasScopes = ({ credentialKind }: Pick<Caller, 'credentialKind'>): boolean =>
  credentialKind === 'oauth_access_token';

/** Throws the 403 of RFC 6750 §3.1 when a credential with scopes lacks this one. */
export function requireScope(
  caller: Pick<Caller, 'credentialKind' | 'scopes'>,
  scope: RestScope,
  baseUrl: string,
): void {
  if (!hasScopes(caller) || caller.scopes.includes(scope)) return;
  const metadata = protectedResourceUrl(protectedApi(baseUrl).resource);
  throw new RestFailure({
    status: 403,
    message: `The access token lacks the scope ${scope}.`,
    headers: {
      'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${metadata}"`,
    },
  });
}
