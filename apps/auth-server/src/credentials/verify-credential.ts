import { createHash } from 'node:crypto';
import type { Pool } from '@longwave/postgres';
import { createPrincipalSigner, type Principal } from '@longwave/principal';
import { Refusal, type VerifyRequest, type VerifyResponse } from '@longwave/rpc/credential';
import type { Logger } from '@longwave/service-kit';
import type { JWK } from 'jose';
import { listGrants, type StoredGrant } from '../grants/grant-table.ts';
import { findCredential } from '../identity-table.ts';
import type { Plan, Plans } from '../plans.ts';
import {
  clientIdOf,
  judgeCredential,
  planOf,
  type CredentialRefusal,
  type IssuedCredential,
  type Verdict,
} from './judge-credential.ts';

/** An account credential acts with everything its owner may do in the workspace. */
const ownerRoles: Principal['roles'] = ['owner', 'publisher', 'trafficker', 'sales', 'admin'];

/** MCP personal access tokens are unknown here, without a lookup. */
const mcpPersonalPrefix = 'svc_mcp_';

const wireRefusals = {
  unknown_user: Refusal.UNKNOWN_USER,
  api_access_not_available: Refusal.API_ACCESS_NOT_AVAILABLE,
  suspended_subscription: Refusal.SUSPENDED_SUBSCRIPTION,
  mcp_credential: Refusal.MCP_CREDENTIAL,
  client_blocked: Refusal.CLIENT_BLOCKED,
} as const satisfies Record<CredentialRefusal, Refusal>;

export interface VerifyDeps {
  readonly pool: Pool;
  readonly plans: Plans;
  /** Ed25519, private. */
  readonly principalKey: JWK;
  readonly clock: () => Date;
  readonly logger: Logger;
}

/** A plan, with the rate limits of another one where that decides. */
const wirePlan = (name: string, plan: Plan, rates: Plan, legacy: boolean) => ({
  name,
  includesAnalytics: plan.includes_analytics,
  historyDays: plan.history_days ?? undefined,
  encodingMsPerMonth: plan.encoding_ms_per_month === null ? undefined : BigInt(plan.encoding_ms_per_month),
  requestsPerMinute: legacy ? rates.legacy_requests_per_minute : rates.requests_per_minute,
  uploadUrlsPerMinute: legacy ? rates.legacy_requests_per_minute : rates.upload_urls_per_minute,
});

const principalOf = (
  credential: IssuedCredential,
  kind: Principal['credential_kind'],
  grants: readonly StoredGrant[],
): Principal & { readonly client_id: string } => ({
  account_id: credential.account.id,
  workspace_id: credential.account.workspaceId,
  roles: ownerRoles,
  grants: grants.map(({ workspaceId, podcastId, roles }) => ({
    workspace_id: workspaceId,
    ...(podcastId !== undefined && { podcast_id: podcastId }),
    roles: [...roles],
  })),
  credential_id: credential.id,
  client_id: clientIdOf(credential),
  credential_kind: kind,
  read_only: credential.scope === 'read',
});

/** Any credential's text → a principal with its plan, its grants and a signed statement, or the reason why not. */
export function verifyCredential({ pool, plans, principalKey, clock, logger }: VerifyDeps) {
  const sign = createPrincipalSigner(principalKey);
  return async ({ credential: text }: VerifyRequest): Promise<VerifyResponse> => {
    const now = clock();
    const credential = text.startsWith(mcpPersonalPrefix)
      ? undefined
      : await findCredential(pool, createHash('sha256').update(text).digest('hex'));
    const { grants, leftOut } = credential
      ? await listGrants(pool, { id: credential.account.id, email: credential.account.email })
      : { grants: [], leftOut: 0 };
    if (leftOut > 0)
      logger.warn({ account_id: credential?.account.id, given: grants.length, left_out: leftOut }, 'grants.cut');
    const ownerPlans = grants.filter(({ podcastId }) => podcastId === undefined).map(({ plan }) => plan);
    const verdict = judgeCredential(credential, ownerPlans, plans, now);
    if (!verdict.accepted || !credential) return { outcome: { $case: 'refusal', value: refusalOf(verdict) } };
    const principal = principalOf(credential, verdict.kind, grants);
    const legacy = verdict.kind === 'legacy_token';
    return {
      outcome: {
        $case: 'principal',
        value: {
          accountId: principal.account_id,
          workspaceId: principal.workspace_id,
          roles: principal.roles,
          credentialId: principal.credential_id,
          clientId: principal.client_id,
          credentialKind: principal.credential_kind,
          readOnly: principal.read_only,
          plan: wirePlan(credential.account.plan, verdict.plan, verdict.rates, legacy),
          statement: await sign(principal, now),
          grants: grants.map(({ workspaceId, podcastId, roles, plan }) => ({
            workspaceId,
            podcastId: podcastId ?? '',
            roles: [...roles],
            plan: wirePlan(plan, planOf(plans, plan), planOf(plans, plan), legacy),
          })),
        },
      },
    };
  };
}

const refusalOf = (verdict: Verdict): Refusal =>
  verdict.accepted ? Refusal.UNKNOWN_USER : wireRefusals[verdict.refusal];
