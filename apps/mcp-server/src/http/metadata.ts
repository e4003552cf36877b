import type { ProtectedResource } from '@longwave/http-kit';
import { Problem } from '@longwave/problems';
import { mcpScopes } from './scopes.ts';

/** `{mcp_url}/mcp` as a protected resource. */
export const protectedMcp = (mcpUrl: string, baseUrl: string): ProtectedResource => ({
  resource: `${mcpUrl}/mcp`,
  name: 'Longwave MCP',
  issuer: baseUrl,
  scopes: mcpScopes,
  documentation: `${baseUrl}/api-docs`,
});

const path = '/.well-known/oauth-authorization-server';
const keptMs = 300_000;
const maxWaitMs = 5_000;

/**
 * The metadata of the authorization server (RFC 8414), for clients that look for it at the resource. Reads them from the issuer and keeps
 * them for 5 minutes. Throws `temporarily_unavailable` when the issuer does not answer.
 */
export function createIssuerMetadata(baseUrl: string, clock: () => Date): () => Promise<string> {
  let kept: { readonly text: string; readonly untilMs: number } | undefined;
  return async () => {
    if (kept && kept.untilMs > clock().getTime()) return kept.text;
    const answer = await fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(maxWaitMs) }).catch(
      (cause: unknown) => {
        throw new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 5 });
      },
    );
    const text = await answer.text();
    if (!answer.ok) throw new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 5 });
    kept = { text, untilMs: clock().getTime() + keptMs };
    return text;
  };
}
