import type { ProblemCode } from '@longwave/problems';
import type { RequestHandler } from 'express';

/** Pages of the operator that metadata name: how programs may use the data, and the terms of service. */
export interface OperatorPages {
  readonly POLICY_URL?: string | undefined;
  readonly TERMS_URL?: string | undefined;
}

/** An API that accepts access tokens of the authorization server. */
export interface ProtectedResource {
  /** Its resource identifier: the audience of tokens for it. */
  readonly resource: string;
  readonly name: string;
  /** `{base_url}`: the authorization server. */
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** Address of its documentation. */
  readonly documentation: string;
}

/** The path of the metadata of a resource (RFC 9728 §3.1): the well-known name before the path of the resource. */
export const protectedResourcePath = (resource: string): string =>
  `/.well-known/oauth-protected-resource${new URL(resource).pathname}`;

/** Address of the metadata, as challenges name it. */
export const protectedResourceUrl = (resource: string): string =>
  new URL(protectedResourcePath(resource), resource).href;

/** Serves the metadata of a protected resource (RFC 9728 §2), to pages of every origin too. */
export function serveProtectedResource(
  api: ProtectedResource,
  { POLICY_URL, TERMS_URL }: OperatorPages,
): RequestHandler {
  const body = JSON.stringify({
    resource: api.resource,
    resource_name: api.name,
    authorization_servers: [api.issuer],
    scopes_supported: api.scopes,
    bearer_methods_supported: ['header'],
    resource_documentation: api.documentation,
    resource_policy_uri: POLICY_URL,
    resource_tos_uri: TERMS_URL,
  });
  return (_request, response) =>
    void response
      .set({ 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public, max-age=300' })
      .type('application/json')
      .send(body);
}

/** The `WWW-Authenticate` of a refusal (RFC 6750 §3, RFC 9728 §5.1), or undefined for another problem. */
export function challengeOf(code: ProblemCode, metadataUrl: string, scope: string | undefined): string | undefined {
  const error = {
    token_missing: '',
    token_invalid: 'error="invalid_token", ',
    insufficient_scope: 'error="insufficient_scope", ',
  };
  if (!Object.hasOwn(error, code)) return undefined;
  const scopes = scope ? `scope="${scope}", ` : '';
  return `Bearer ${error[code as keyof typeof error]}${scopes}resource_metadata="${metadataUrl}"`;
}
