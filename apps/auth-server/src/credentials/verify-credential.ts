import type { Pool } from '@longwave/postgres';
import { apiScopes, createPrincipalSigner } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { Api, Carrier, Refusal, type VerifyRequest, type VerifyResponse } from '@longwave/rpc/credential';
import type { Logger } from '@longwave/service-kit';
import type { JWK } from 'jose';
import { listGrants, type GrantList } from '../grants/grant-table.ts';
import { findCredential } from '../identity-table.ts';
import { findAccessToken, isAccessTokenText, touchGrant } from '../oauth/granted-access-table.ts';
import type { Resource } from '../oauth/resources.ts';
import type { Plan, Plans } from '../plans.ts';
import { touchSession } from '../sessions/session-table.ts';
import {
  judgeCredential,
  planOf,
  type Api as ApiName,
  type CredentialRefusal,
  type IssuedCredential,
  type Verdict,
} from './judge-credential.ts';
import { isUseDue, keepMsOf, maxKeepMs } from './keep-time.ts';
import { isMembers, principalOf, withRightsOf } from './principal-of.ts';
import { secretDigest } from '../secret-digest.ts';

/** MCP personal access tokens are unknown outside MCP, without a lookup. */
const mcpPersonalPrefix = 'svc_mcp_';

/** The API that asks: REST API v1 unless the request names another; undefined for one that is not known. */
const apiNames: Readonly<Partial<Record<Api, ApiName>>> = {
  [Api.UNSPECIFIED]: 'rest',
  [Api.REST]: 'rest',
  [Api.MCP]: 'mcp',
  [Api.MANAGEMENT]: 'management',
};

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
  /** The APIs whose access tokens are known. */
  readonly resources: readonly Resource[];
  /** Ed25519, private. */
  readonly principalKey: JWK | (() => JWK);
  /** Of the newest change that this process knows of: what is read afterwards knows it too. */
  readonly position: () => bigint;
  readonly clock: () => Date;
  readonly logger: Logger;
}

/** A plan, with the rate limits of another one where that decides. */
export const wirePlan = (name: string, plan: Plan, rates: Plan, legacy: boolean) => ({
  name,
  includesAnalytics: plan.includes_analytics,
  historyDays: plan.history_days ?? undefined,
  encodingMsPerMonth: plan.encoding_ms_per_month === null ? undefined : BigInt(plan.encoding_ms_per_month),
  requestsPerMinute: legacy ? rates.legacy_requests_per_minute : rates.requests_per_minute,
  uploadUrlsPerMinute: legacy ? rates.legacy_requests_per_minute : rates.upload_urls_per_minute,
});

/** The scopes of a token: what was granted; a personal token has every scope of the MCP resource, or those that read. */
function scopesOf({ kind, scope, scopes = [] }: IssuedCredential): readonly string[] {
  if (kind !== 'mcp_personal_token') return scopes;
  return apiScopes.mcp.filter((one) => scope === 'read_write' || one.endsWith('read'));
}

/** Finds the credential with this text. Answers undefined for an unknown text, and for one that the API may not know. */
async function findByText(
  { pool, resources }: VerifyDeps,
  text: string,
  api: ApiName,
): Promise<IssuedCredential | undefined> {
  if (text.startsWith(mcpPersonalPrefix) && api !== 'mcp') return undefined;
  if (isAccessTokenText(text)) return findAccessToken(pool, resources, text);
  return findCredential(pool, secretDigest(text));
}

/** Any credential's text → a principal with its plan, its grants and a signed statement, or the reason why not. */
export function verifyCredential(deps: VerifyDeps) {
  const { pool, plans, principalKey, clock, logger } = deps;
  // With the time for which a principal is kept it makes 15 s: three quarters of a statement's life remain for the work of a request.
  const sign = createPrincipalSigner(principalKey, 15 - maxKeepMs / 1_000);
  return async ({ credential: text, api: wireApi, carrier }: VerifyRequest): Promise<VerifyResponse> => {
    const now = clock();
    const position = deps.position();
    const api = apiNames[wireApi];
    if (!api) throw new Problem('validation_failed', 'api: This API is not known.');
    const credential = await findByText(deps, text, api);
    // The grants of an account are its owner's, not a member's.
    const { grants, leftOut, endsAt }: GrantList =
      credential && !isMembers(credential)
        ? await listGrants(pool, credential.account, now)
        : { grants: [], leftOut: 0 };
    if (leftOut > 0)
      logger.warn({ account_id: credential?.account.id, given: grants.length, left_out: leftOut }, 'grants.cut');
    const ownerPlans = grants.filter(({ podcastId }) => podcastId === undefined).map(({ plan }) => plan);
    const request = { api, carrier: carrier === Carrier.COOKIE ? 'cookie' : 'header' } as const;
    const verdict = judgeCredential(credential, request, ownerPlans, plans, now);
    if (!verdict.accepted || !credential) return refusal(verdict, position);
    if (isUseDue(credential, now)) {
      if (verdict.kind === 'browser_session') await touchSession(pool, credential.id, now);
      if (credential.grantId !== undefined) await touchGrant(pool, credential.grantId, now);
    }
    const principal = withRightsOf(credential, principalOf(credential, verdict.kind, grants));
    const legacy = verdict.kind === 'legacy_token';
    return {
      keepMs: keepMsOf(credential, endsAt, now),
      position,
      outcome: {
        $case: 'principal',
        value: {
          accountId: principal.account_id,
          userId: principal.user_id ?? '',
          workspaceId: principal.workspace_id,
          roles: principal.roles,
          credentialId: principal.credential_id,
          clientId: principal.client_id,
          credentialKind: principal.credential_kind,
          readOnly: principal.read_only,
          scopes: [...scopesOf(credential)],
          grantId: credential.grantId ?? '',
          purposes: [...(credential.purposes ?? [])],
          plan: wirePlan(credential.account.plan, verdict.plan, verdict.rates, legacy),
          statement: await sign(principal, now),
          grants: (principal.grants.length === 0 ? [] : grants).map(({ workspaceId, podcastId, roles, plan }) => ({
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

/** Refusals are not kept. */
const refusal = (verdict: Verdict, position: bigint): VerifyResponse => ({
  outcome: { $case: 'refusal', value: verdict.accepted ? Refusal.UNKNOWN_USER : wireRefusals[verdict.refusal] },
  keepMs: 0,
  position,
});
