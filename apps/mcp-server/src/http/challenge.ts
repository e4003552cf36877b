import { protectedResourceUrl } from '@longwave/http-kit';
import { firstScopes, type McpScope } from './scopes.ts';

/** Why a request lacks authorization. */
export type AuthorizationFailure =
  | { readonly reason: 'missing' }
  | { readonly reason: 'invalid' }
  | { readonly reason: 'scope'; readonly needed: readonly McpScope[] };

/** The same sentence for every invalid token, so that nobody learns why. */
const invalidText = 'The access token is not valid for this resource';

/** The sentence of a refusal. */
export function refusalText(failure: AuthorizationFailure): string {
  if (failure.reason === 'missing') return 'Send an access token: Authorization: Bearer ….';
  if (failure.reason === 'invalid') return `${invalidText}.`;
  return `The access token lacks the scope ${failure.needed.join(' ')}.`;
}

/** The `WWW-Authenticate` of a refusal (RFC 6750 §3, RFC 9728 §5.1). A request without a token gets no error code. */
export function challengeOf(failure: AuthorizationFailure, mcpUrl: string): string {
  const metadata = `resource_metadata="${protectedResourceUrl(`${mcpUrl}/mcp`)}"`;
  if (failure.reason === 'missing') return `Bearer ${metadata}, scope="${firstScopes.join(' ')}"`;
  if (failure.reason === 'invalid')
    return `Bearer error="invalid_token", error_description="${invalidText}", ${metadata}, scope="${firstScopes.join(' ')}"`;
  return `Bearer error="insufficient_scope", scope="${failure.needed.join(' ')}", ${metadata}`;
}
