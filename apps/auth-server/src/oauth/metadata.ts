import { authorizePath, jwksPath, revokePath, tokenPath } from './paths.ts';
import type { Resource } from './resources.ts';

const authenticationMethods = ['none', 'client_secret_basic', 'private_key_jwt'];

/**
 * The metadata of the authorization server (RFC 8414 §2). Both well-known addresses have the same document; of OpenID Connect Discovery it
 * has the fields that a reader of that form insists on.
 */
export const serverMetadata = (
  issuer: string,
  resources: readonly Resource[],
  { describesClients }: { readonly describesClients: boolean },
) => ({
  issuer,
  authorization_endpoint: issuer + authorizePath,
  token_endpoint: issuer + tokenPath,
  revocation_endpoint: issuer + revokePath,
  jwks_uri: issuer + jwksPath,
  response_types_supported: ['code'],
  response_modes_supported: ['query', 'form_post'],
  grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: authenticationMethods,
  token_endpoint_auth_signing_alg_values_supported: ['ES256'],
  revocation_endpoint_auth_methods_supported: authenticationMethods,
  revocation_endpoint_auth_signing_alg_values_supported: ['ES256'],
  authorization_response_iss_parameter_supported: true,
  scopes_supported: [...resources.flatMap(({ scopes }) => scopes), 'offline_access'],
  ...(describesClients && { client_id_metadata_document_supported: true }),
  protected_resources: resources.map(({ identifier }) => identifier),
  service_documentation: `${issuer}/api-docs`,
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
});
