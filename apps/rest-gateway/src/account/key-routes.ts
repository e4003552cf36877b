import { credentials, identityCatalog } from '@longwave/command-catalog';
import type { Key } from '@longwave/rpc/credential';
import { z } from 'zod';
import { listQuery, renderList } from '../list-answer.ts';
import { permitRoles } from '../resource-routes.ts';
import { defineRoute, type AnswerShape, type Route } from '../route.ts';
import { instantOf } from './instant.ts';
import { sendToIdentity } from './send-to-identity.ts';

const key: AnswerShape = {
  name: 'AccountKey',
  schema: z.strictObject({
    id: z.string(),
    name: z.string(),
    kind: z
      .enum(['api_key', 'legacy_token', 'mcp_personal_token'])
      .describe('"mcp_personal_token" is a token for agents: it acts for its person at the MCP server alone.'),
    scope: credentials.attributes.shape.scope.describe('"read" keys may send GET and HEAD requests only.'),
    state: z.enum(['active', 'blocked']),
    expires_at: z.iso.datetime().optional().describe('Missing when the key is valid until it is revoked.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
};

const renderKey = ({ id, name, kind, scope, state, expiresAtMs, createdAtMs, updatedAtMs }: Key) => ({
  ...{ id, name, kind, scope, state, ...(expiresAtMs !== undefined && { expires_at: instantOf(expiresAtMs) }) },
  ...{ created_at: instantOf(createdAtMs), updated_at: instantOf(updatedAtMs) },
});

const { roles } = identityCatalog.commands['credential.revoke'];

const listKeys = (path: string): Route =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'accountKeyList',
    summary:
      "Lists the API keys and legacy tokens of the account, and the caller's own tokens for agents, that are not revoked, oldest first. The text of a key is shown once, when it is made, and is not stored.",
    permit: permitRoles(roles),
    query: listQuery.pick({ fields_filter: true, page: true, per_page: true }),
    answer: { ...key, list: true },
    refusals: [403],
    run: ({ caller, query, url }, { identity, baseUrl }) =>
      renderList(identity.keyPages(caller), (keys) => keys.map(renderKey), query, new URL(url, baseUrl).href),
  });

const revokeKey = (path: string): Route =>
  defineRoute({
    method: 'DELETE',
    path,
    operation: 'accountKeyRevoke',
    summary:
      'Revokes a key or a token of the account. It counts from the next request. Keys are made on the account pages only.',
    permit: permitRoles(roles),
    status: 204,
    answer: 'empty',
    command: true,
    refusals: [404],
    run: async (call, deps) => {
      await sendToIdentity(call, deps, 'credential.revoke', {});
      return { status: 204 };
    },
  });

/** API keys and legacy tokens of the caller's account, and the caller's own tokens for agents: list and revoke. */
export const keys = (path: string): readonly Route[] => [listKeys(path), revokeKey(`${path}/{id}`)];
