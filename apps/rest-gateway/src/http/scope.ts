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

/** Throws the 403 of RFC 6750 §3.1 when a partner's access token lacks the scope. Other credentials have no scopes. */
export function requireScope(
  { credentialKind, scopes }: Pick<Caller, 'credentialKind' | 'scopes'>,
  scope: RestScope,
  baseUrl: string,
): void {
  if (credentialKind !== 'oauth_access_token' || scopes.includes(scope)) return;
  const metadata = protectedResourceUrl(protectedApi(baseUrl).resource);
  throw new RestFailure({
    status: 403,
    message: `The access token lacks the scope ${scope}.`,
    headers: {
      'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${metadata}"`,
    },
  });
}
