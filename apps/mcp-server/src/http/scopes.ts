import { apiScopes } from '@longwave/principal';
import { Problem } from '@longwave/problems';

/** Scopes of tokens for the MCP resource. */
export const mcpScopes = apiScopes.mcp;
export type McpScope = (typeof mcpScopes)[number];

/** The scopes that each scope contains. */
const implied: Readonly<Partial<Record<string, readonly McpScope[]>>> = {
  'mcp:episodes.write': ['mcp:read'],
  'mcp:media.write': ['mcp:read'],
  'mcp:episodes.publish': ['mcp:episodes.write', 'mcp:read'],
  'mcp:content.delete': ['mcp:read'],
};

/** The scopes that a request without a token is asked to get: everything that is read in daily work. */
export const firstScopes: readonly McpScope[] = ['mcp:read', 'mcp:analytics.read'];

/** Whether the granted scopes contain all that are needed. */
export function containsScopes(granted: readonly string[], needed: readonly McpScope[]): boolean {
  const all = new Set<string>(granted.flatMap((scope) => [scope, ...(implied[scope] ?? [])]));
  return needed.every((scope) => all.has(scope));
}

/** Throws `insufficient_scope`. A second lock behind the check of the request, which answers with a challenge. */
export function requireScopes(granted: readonly string[], needed: readonly McpScope[]): void {
  if (!containsScopes(granted, needed)) throw new Problem('insufficient_scope');
}
