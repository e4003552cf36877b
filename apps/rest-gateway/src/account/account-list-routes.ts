import { credentials, memberPermissions } from '@longwave/command-catalog';
import { callOptions } from '@longwave/hosting-client';
import type { Key, Member } from '@longwave/rpc/credential';
import { z } from 'zod';
import { listQuery, renderList } from '../list-answer.ts';
import { permitRoles } from '../resource-routes.ts';
import { defineRoute, type AnswerShape } from '../route.ts';

const pageSize = 200;

/** The pages of a list of auth-server; each begins after the last id of the one before. */
async function* pagesOf<T extends { readonly id: string }>(
  readPage: (page: { readonly after: string; readonly limit: number }) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let after = ''; ;) {
    const items = await readPage({ after, limit: pageSize });
    yield items;
    if (items.length < pageSize) return;
    after = items.at(-1)!.id;
  }
}

const query = listQuery.pick({ fields_filter: true, page: true, per_page: true });
const timeOf = (ms: bigint) => new Date(Number(ms)).toISOString();

const member: AnswerShape = {
  name: 'Member',
  schema: z.strictObject({
    /** Of the membership. */
    id: z.string(),
    account_id: z.string(),
    name: z.string(),
    email: z.email().optional(),
    permissions: z.array(z.enum(memberPermissions)).describe('What the member may do in this account.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
};

const renderMember = ({ id, accountId, name, email, permissions, createdAtMs, updatedAtMs }: Member) => ({
  ...{ id, account_id: accountId, name, ...(email !== '' && { email }), permissions },
  ...{ created_at: timeOf(createdAtMs), updated_at: timeOf(updatedAtMs) },
});

/** GET /account/members. */
export const listMembers = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'memberList',
    summary: 'Lists the members of the organization that the account of the credential owns, oldest membership first.',
    permit: permitRoles(['owner', 'admin', 'manager']),
    query,
    answer: { ...member, list: true },
    refusals: [403],
    run: ({ caller, query: pageQuery, url }, { accounts, baseUrl }) =>
      renderList(
        pagesOf(async (page) => (await accounts.listMembers(page, callOptions(caller))).members),
        (members) => members.map(renderMember),
        pageQuery,
        new URL(url, baseUrl).href,
      ),
  });

const key: AnswerShape = {
  name: 'AccountKey',
  schema: z.strictObject({
    id: z.string(),
    name: z.string(),
    kind: z.enum(['api_key', 'legacy_token']),
    scope: credentials.attributes.shape.scope.describe('"read" keys may send GET and HEAD requests only.'),
    state: z.enum(['active', 'blocked']),
    expires_at: z.iso.datetime().optional().describe('Missing when the key is valid until it is revoked.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
};

const renderKey = ({ id, name, kind, scope, state, expiresAtMs, createdAtMs, updatedAtMs }: Key) => ({
  ...{ id, name, kind, scope, state, ...(expiresAtMs !== undefined && { expires_at: timeOf(expiresAtMs) }) },
  ...{ created_at: timeOf(createdAtMs), updated_at: timeOf(updatedAtMs) },
});

/** GET /account/keys. */
export const listKeys = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'accountKeyList',
    summary:
      'Lists the API keys and legacy tokens of the account that are not revoked, oldest first. The text of a key is shown once, when it is made, and is not stored.',
    permit: permitRoles(['owner', 'admin']),
    query,
    answer: { ...key, list: true },
    refusals: [403],
    run: ({ caller, query: pageQuery, url }, { accounts, baseUrl }) =>
      renderList(
        pagesOf(async (page) => (await accounts.listKeys(page, callOptions(caller))).keys),
        (keys) => keys.map(renderKey),
        pageQuery,
        new URL(url, baseUrl).href,
      ),
  });
