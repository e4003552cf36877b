import { createHash } from 'node:crypto';
import type { Pool } from '@longwave/postgres';
import { signPrincipal, type Principal } from '@longwave/principal';
import { Refusal, type VerifyRequest, type VerifyResponse } from '@longwave/rpc/credential';
import type { JWK } from 'jose';
import { findCredential } from '../identity-table.ts';
import type { Plan, Plans } from '../plans.ts';
import { judgeCredential, type CredentialRefusal, type IssuedCredential } from './judge-credential.ts';

/** An account credential acts with everything its owner may do in the workspace. */
const ownerRoles: Principal['roles'] = ['owner', 'publisher', 'trafficker', 'sales', 'admin'];

const wireRefusals = {
  unknown_user: Refusal.UNKNOWN_USER,
  api_access_not_available: Refusal.API_ACCESS_NOT_AVAILABLE,
  suspended_subscription: Refusal.SUSPENDED_SUBSCRIPTION,
} as const satisfies Record<CredentialRefusal, Refusal>;

export interface VerifyTools {
  readonly pool: Pool;
  readonly plans: Plans;
  /** Ed25519, private. */
  readonly principalKey: JWK;
  readonly clock: () => Date;
}

function wirePlan(name: string, plan: Plan, legacy: boolean) {
  return {
    name,
    includesAnalytics: plan.includes_analytics,
    historyDays: plan.history_days ?? undefined,
    encodingMsPerMonth: plan.encoding_ms_per_month === null ? undefined : BigInt(plan.encoding_ms_per_month),
    requestsPerMinute: legacy ? plan.legacy_requests_per_minute : plan.requests_per_minute,
    uploadUrlsPerMinute: legacy ? plan.legacy_requests_per_minute : plan.upload_urls_per_minute,
  };
}

const principalOf = ({ id, kind, scope, account }: IssuedCredential): Principal => ({
  account_id: account.id,
  workspace_id: account.workspaceId,
  roles: ownerRoles,
  credential_id: id,
  credential_kind: kind,
  read_only: scope === 'read',
});

/** Any credential's text → a principal with its plan and a signed statement, or the reason why not. */
export const verifyCredential =
  ({ pool, plans, principalKey, clock }: VerifyTools) =>
  async ({ credential: text }: VerifyRequest): Promise<VerifyResponse> => {
    const now = clock();
    const credential = await findCredential(pool, createHash('sha256').update(text).digest('hex'));
    const verdict = judgeCredential(credential, plans, now);
    if (!verdict.accepted || !credential)
      return {
        outcome: { $case: 'refusal', value: verdict.accepted ? Refusal.UNKNOWN_USER : wireRefusals[verdict.refusal] },
      };
    const principal = principalOf(credential);
    return {
      outcome: {
        $case: 'principal',
        value: {
          accountId: principal.account_id,
          workspaceId: principal.workspace_id,
          roles: principal.roles,
          credentialId: principal.credential_id,
          credentialKind: principal.credential_kind,
          readOnly: principal.read_only,
          plan: wirePlan(credential.account.plan, verdict.plan, credential.kind === 'legacy_token'),
          statement: await signPrincipal(principal, principalKey, now),
        },
      },
    };
  };
