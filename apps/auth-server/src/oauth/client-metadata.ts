import type { AllClientMetadata } from 'oidc-provider';
import type { OAuthClient } from './client-table.ts';

/** A registered client as the library reads it (RFC 7591 §2). The secret is its digest; see `compareClientSecret`. */
export const clientMetadata = (client: OAuthClient): AllClientMetadata & { readonly client_id: string } => ({
  client_id: client.client_id,
  client_name: client.name,
  token_endpoint_auth_method: client.token_endpoint_auth_method,
  ...(client.secret_digest !== undefined && { client_secret: client.secret_digest }),
  ...(client.jwks && { jwks: client.jwks, token_endpoint_auth_signing_alg: 'ES256' as const }),
  grant_types: client.grant_types,
  response_types: client.kind === 'machine' ? [] : ['code'],
  redirect_uris: client.redirect_uris,
  response_modes: ['query', 'form_post'],
});

/** What the library knows of a client that a document describes. */
export interface DescribedClient {
  readonly clientName?: string | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  readonly tokenEndpointAuthMethod?: string | undefined;
  readonly grantTypes?: readonly string[] | undefined;
  readonly jwks?: unknown;
  readonly jwksUri?: string | undefined;
}

const equal = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Whether the metadata document of a connector says exactly what its approved record says. */
export function agreesWithRecord(described: DescribedClient, approved: OAuthClient): boolean {
  return (
    approved.isActive &&
    described.clientName === approved.name &&
    equal(described.redirectUris, approved.redirect_uris) &&
    described.tokenEndpointAuthMethod === approved.token_endpoint_auth_method &&
    (described.grantTypes ?? []).every((type) => approved.grant_types.some((one) => one === type)) &&
    equal(described.jwks, approved.jwks) &&
    described.jwksUri === undefined
  );
}
