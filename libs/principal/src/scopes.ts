import { audienceScopes } from './access-token.ts';

/** Scopes of partner applications at REST API v1. None implies another. */
const restScopes = ['api:read', 'api:write', 'api:uploads.write', 'api:analytics.read'] as const;

/** Scopes of the MCP resource. A scope that writes implies `mcp:read`; `mcp:episodes.publish` implies `mcp:episodes.write`. */
const mcpScopes = [
  'mcp:read',
  'mcp:analytics.read',
  'mcp:episodes.write',
  'mcp:media.write',
  'mcp:episodes.publish',
  'mcp:content.delete',
  'mcp:ads.read',
] as const;

/** Scopes of the Management API. None implies another. */
const managementScopes = [
  'management:read',
  'management:write',
  'management:diagnostics',
  'management:bootstrap',
] as const;

/** Scopes of the Hosting Exchange API. */
const exchangeScopes = ['exchange:write', 'exchange:read'] as const;

/** The APIs that accept access tokens of the authorization server, with their scopes. No two APIs share the name of a scope. */
export const apiScopes = {
  rest: restScopes,
  mcp: mcpScopes,
  management: managementScopes,
  exchange: exchangeScopes,
  audience: audienceScopes,
} as const;
export type ProtectedApi = keyof typeof apiScopes;
export type ApiScope = (typeof apiScopes)[ProtectedApi][number];
export type RestScope = (typeof restScopes)[number];
