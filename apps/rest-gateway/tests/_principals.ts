import { apiScopes, type Principal as OwnPrincipal, type Role } from '@longwave/principal';
import { Refusal, type Grant, type Plan, type Principal } from '@longwave/rpc/credential';

const idOf = (prefix: string, last: string) => `${prefix}_${last.padStart(26, '0')}`;

const plan: Plan = {
  name: 'scale',
  includesAnalytics: true,
  historyDays: 730,
  encodingMsPerMonth: 360_000_000n,
  requestsPerMinute: 300,
  uploadUrlsPerMinute: 1200,
};
const growPlan: Plan = { ...plan, name: 'grow', historyDays: 90 };
const launchPlan: Plan = { ...plan, name: 'launch', includesAnalytics: false, historyDays: 0 };

const owner: Omit<Principal, 'statement'> = {
  accountId: idOf('acc', 'a'),
  workspaceId: idOf('ws', 'a'),
  roles: ['owner', 'publisher', 'trafficker', 'sales', 'admin'],
  credentialId: idOf('crd', 'a'),
  clientId: '',
  credentialKind: 'api_key',
  readOnly: false,
  userId: '',
  scopes: [],
  grantId: '',
  purposes: [],
  plan,
  grants: [],
};

/** Another account, which collaborates on a podcast of the owner. */
const guest = (name: string, ...grants: Grant[]): Omit<Principal, 'statement'> => ({
  ...owner,
  accountId: idOf('acc', name),
  workspaceId: idOf('ws', 'c'),
  credentialId: `crd_${name}`,
  plan: launchPlan,
  grants,
});
const inOrganization = (roles: string[], ownersPlan = plan): Grant => ({
  workspaceId: owner.workspaceId,
  podcastId: '',
  roles,
  plan: ownersPlan,
});
const onPodcast = (roles: string[]): Grant => ({ ...inOrganization(roles), podcastId: idOf('pod', 'a') });

const accounts: Readonly<Record<string, Omit<Principal, 'statement'>>> = {
  owner,
  /** Owner of another workspace. */
  stranger: { ...owner, accountId: idOf('acc', 'b'), workspaceId: idOf('ws', 'b'), credentialId: idOf('crd', 'b') },
  /** Owner of a third one, where everything has every attribute. */
  rich: { ...owner, accountId: idOf('acc', 'd'), workspaceId: idOf('ws', 'd'), credentialId: idOf('crd', 'd') },
  slow: { ...owner, credentialId: 'crd_slow', plan: { ...plan, requestsPerMinute: 2, uploadUrlsPerMinute: 3 } },
  rotated: {
    ...owner,
    credentialId: 'crd_rotated',
    clientId: 'crd_slow',
    plan: { ...plan, requestsPerMinute: 2, uploadUrlsPerMinute: 3 },
  },
  viewer: { ...owner, credentialId: 'crd_viewer', roles: ['viewer'] },
  launch: { ...owner, credentialId: 'crd_launch', plan: launchPlan },
  grow: { ...owner, credentialId: 'crd_grow', plan: growPlan },
  network: {
    ...owner,
    credentialId: 'crd_network',
    plan: { ...plan, name: 'network', historyDays: undefined, encodingMsPerMonth: undefined },
  },
  legacy_read: {
    ...owner,
    credentialId: 'crd_legacy',
    credentialKind: 'legacy_token',
    readOnly: true,
    plan: { ...plan, requestsPerMinute: 120, uploadUrlsPerMinute: 120 },
  },
  partner: { ...owner, credentialId: 'crd_partner', credentialKind: 'oauth_access_token', scopes: [...apiScopes.rest] },
  ...Object.fromEntries(
    apiScopes.rest.map((scope) => [
      `partner ${scope}`,
      {
        ...owner,
        ...{ credentialId: `crd_${scope}`, credentialKind: 'oauth_access_token', scopes: [scope] },
        readOnly: scope === 'api:read',
      },
    ]),
  ),
  session: { ...owner, credentialId: 'crd_session', credentialKind: 'browser_session' },
  collaborator: guest('d', onPodcast(['editor', 'producer', 'scheduler', 'viewer', 'analyst'])),
  analyst: guest('e', onPodcast(['analyst', 'viewer'])),
  member: guest('f', inOrganization(['editor', 'producer', 'scheduler', 'analyst', 'manager'])),
  member_viewer: guest('g', inOrganization(['viewer'])),
  member_grow: guest('h', inOrganization(['analyst'], growPlan)),
};

const statementOf = (name: string) => `statement-of-${name}`;

/** The outcome of each credential text; every other text is unknown. */
export const principals: Readonly<Record<string, Principal>> = Object.fromEntries(
  Object.entries(accounts).map(([name, account]) => [name, { ...account, statement: statementOf(name) }]),
);

export const refusals: Readonly<Record<string, Refusal>> = {
  no_api: Refusal.API_ACCESS_NOT_AVAILABLE,
  suspended: Refusal.SUSPENDED_SUBSCRIPTION,
  mcp_connector: Refusal.MCP_CREDENTIAL,
  blocked: Refusal.CLIENT_BLOCKED,
};

/** The principal of a statement, as the services behind the gateway read it. */
export function principalOf(statement: string | undefined): Pick<OwnPrincipal, 'workspace_id' | 'roles' | 'grants'> {
  const principal = Object.values(principals).find((one) => one.statement === statement);
  if (!principal) throw new Error(`no principal has the statement ${statement}`);
  return {
    workspace_id: principal.workspaceId,
    roles: principal.roles as Role[],
    grants: principal.grants.map(({ workspaceId, podcastId, roles }) => ({
      workspace_id: workspaceId,
      ...(podcastId !== '' && { podcast_id: podcastId }),
      roles: roles as Role[],
    })),
  };
}
