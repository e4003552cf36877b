import { signPrincipal, type Principal as OwnPrincipal, type Role } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { rpcService } from '@longwave/rpc';
import {
  AccountServiceService,
  Api,
  Carrier,
  CredentialServiceService,
  Refusal,
  type Plan,
  type Principal,
  type VerifyResponse,
} from '@longwave/rpc/credential';
import type { JWK } from 'jose';
import { mcpScopes } from '../src/http/scopes.ts';

const idOf = (prefix: string, last: string) => `${prefix}_${last.padStart(26, '0')}`;

const plan: Plan = {
  name: 'scale',
  includesAnalytics: true,
  historyDays: 730,
  encodingMsPerMonth: 360_000_000n,
  requestsPerMinute: 100_000,
  uploadUrlsPerMinute: 100_000,
};

interface Person {
  readonly workspace: string;
  readonly roles: readonly Role[];
  readonly plan: Plan;
  readonly scopes: readonly string[];
}

const owner: Person = { workspace: 'a', roles: ['owner'], plan, scopes: mcpScopes };

/** The token that has one scope only. */
export const onlyScope = (scope: string): string => scope.replace(':', '_');

/** Who each token stands for, and what it may do; its text is the name. Every other text is unknown. */
const people: Readonly<Record<string, Person>> = {
  owner,
  /** Another token of the same person, from another grant. */
  second: owner,
  stranger: { ...owner, workspace: 'b' },
  viewer: { ...owner, roles: ['viewer'] },
  trafficker: { ...owner, roles: ['trafficker'] },
  launch: { ...owner, plan: { ...plan, name: 'launch', includesAnalytics: false, historyDays: 0 } },
  grow: { ...owner, plan: { ...plan, name: 'grow', historyDays: 90 } },
  slow: { ...owner, plan: { ...plan, requestsPerMinute: 2 } },
  nothing: { ...owner, scopes: [] },
  ...Object.fromEntries(mcpScopes.map((scope) => [onlyScope(scope), { ...owner, scopes: [scope] }])),
};

/** The principal of a token with its signed statement. */
export async function principalOf(token: string, signingKey: JWK): Promise<Principal | undefined> {
  const person = people[token];
  if (!person) return undefined;
  const { workspace, roles } = person;
  const own: OwnPrincipal = {
    account_id: idOf('acc', workspace),
    user_id: idOf('usr', workspace),
    workspace_id: idOf('ws', workspace),
    roles: [...roles],
    grants: [],
    credential_id: `crd_${token}`,
    client_id: `client/${token}`,
    credential_kind: 'mcp_access_token',
    read_only: false,
  };
  return {
    accountId: own.account_id,
    userId: own.user_id!,
    workspaceId: own.workspace_id,
    roles: own.roles,
    credentialId: own.credential_id,
    clientId: own.client_id!,
    credentialKind: own.credential_kind,
    readOnly: false,
    scopes: [...person.scopes],
    grantId: `grant_${token}`,
    purposes: [],
    plan: person.plan,
    grants: [],
    statement: await signPrincipal(own, signingKey, new Date()),
  };
}

const callers = ['mcp-server'] as const;

/**
 * A stand-in for auth-server with the tokens above.
 * @param isRevoked whether a token has been revoked since
 */
export const authServerServices = (signingKey: JWK, isRevoked: (token: string) => boolean) => [
  rpcService(
    CredentialServiceService,
    { verify: callers, followChanges: callers },
    {
      followChanges: async () => {
        // It tells of no changes, so every request is verified; a failure of its own would end the test.
        throw new Problem('not_found');
      },
      verify: async ({ credential, api, carrier }): Promise<VerifyResponse> => {
        const isAskedRight = api === Api.MCP && carrier === Carrier.HEADER;
        const principal =
          isAskedRight && !isRevoked(credential) ? await principalOf(credential, signingKey) : undefined;
        return principal
          ? { outcome: { $case: 'principal', value: principal }, keepMs: 0, position: 0n }
          : { outcome: { $case: 'refusal', value: Refusal.UNKNOWN_USER }, keepMs: 0, position: 0n };
      },
    },
  ),
  rpcService(
    AccountServiceService,
    { getAccount: callers, listMembers: [], listKeys: [], findPlan: [], findPerson: [] },
    {
      getAccount: async () => ({
        ...{ id: '', name: 'Quay Media', email: '', plan: 'scale', subscriptionState: 'active' },
        trialEndsAtMs: undefined,
      }),
      listMembers: async () => ({ members: [] }),
      listKeys: async () => ({ keys: [] }),
      findPlan: async () => ({ plan: undefined }),
      findPerson: async () => ({ accountName: '', person: undefined }),
    },
  ),
];
