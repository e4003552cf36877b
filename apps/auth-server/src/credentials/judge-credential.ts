import type { accounts, credentials } from '@longwave/command-catalog';
import type { z } from 'zod';
import type { Plan, Plans } from '../plans.ts';

type CredentialAttributes = z.output<typeof credentials.attributes>;
type AccountAttributes = z.output<typeof accounts.attributes>;

/** A stored credential with what its account says today. */
export interface IssuedCredential extends Pick<
  CredentialAttributes,
  'kind' | 'scope' | 'expires_at' | 'oauth_client_id'
> {
  readonly id: string;
  readonly state: string;
  /** The first API key that the account ever had. */
  readonly firstKeyId?: string | undefined;
  readonly account: Pick<AccountAttributes, 'plan' | 'subscription' | 'email'> & {
    readonly id: string;
    readonly workspaceId: string;
    readonly state: string;
  };
}

/** Kinds that act for a person at REST API v1. */
type PersonKind = Exclude<CredentialAttributes['kind'], 'mcp_access_token' | 'mcp_personal_token'>;

/** Why a credential is refused: the values of `reason` in a 401, and the two that have a sentence of their own. */
export type CredentialRefusal =
  'unknown_user' | 'api_access_not_available' | 'suspended_subscription' | 'mcp_credential' | 'client_blocked';

export type Verdict =
  | {
      readonly accepted: true;
      readonly kind: PersonKind;
      readonly plan: Plan;
      /** Whose rate limits count: the account's own plan, for a member's legacy token that of the organization's owner. */
      readonly rates: Plan;
    }
  | { readonly accepted: false; readonly refusal: CredentialRefusal };

/**
 * The authenticated client of a credential, which idempotency keys and rate counters belong to: of API keys the account's key
 * slot, named by its first key; of OAuth the client with the account; of browser sessions the console with the account; of any
 * other credential itself. A rotation or a refresh keeps it.
 */
export function clientIdOf({ id, kind, firstKeyId, oauth_client_id: client, account }: IssuedCredential): string {
  if (kind === 'api_key') return firstKeyId ?? id;
  if (kind === 'oauth_access_token' && client !== undefined) return `${client}/${account.id}`;
  return kind === 'browser_session' ? `console/${account.id}` : id;
}

const refuse = (refusal: CredentialRefusal): Verdict => ({ accepted: false, refusal });

/** The plan of that name. Throws when the plan file lacks it: an operator's mistake. */
export function planOf(plans: Plans, name: string): Plan {
  const plan = plans.get(name);
  if (!plan) throw new Error(`an account is on the plan "${name}", which the plan file does not have`);
  return plan;
}

function isBlocked({ kind, account }: IssuedCredential, now: Date): boolean {
  const { state, trial_ends_at: trialEndsAt } = account.subscription;
  if (state === 'canceled' || state === 'suspended') return true;
  const trialOver = state === 'trialing' && trialEndsAt !== undefined && Date.parse(trialEndsAt) <= now.getTime();
  return kind === 'legacy_token' && trialOver;
}

function isOver({ state, expires_at: expiresAt, account }: IssuedCredential, now: Date): boolean {
  const expired = expiresAt !== undefined && Date.parse(expiresAt) <= now.getTime();
  return expired || !['active', 'blocked'].includes(state) || account.state !== 'active';
}

/**
 * Decides whether a credential is accepted, and names the first reason in this order: unknown, blocked, an MCP credential, the plan's API access (legacy tokens;
 * for members the plan of the organization's owner decides), the subscription. An expired trial blocks legacy tokens only.
 * @param ownerPlans plans of the owners of the organizations that the account is a member of
 */
export function judgeCredential(
  credential: IssuedCredential | undefined,
  ownerPlans: readonly string[],
  plans: Plans,
  now: Date,
): Verdict {
  if (!credential || isOver(credential, now) || credential.kind === 'mcp_personal_token') return refuse('unknown_user');
  if (credential.state === 'blocked') return refuse('client_blocked');
  const { kind } = credential;
  if (kind === 'mcp_access_token') return refuse('mcp_credential');
  const plan = planOf(plans, credential.account.plan);
  const deciding = ownerPlans.length === 0 ? [plan] : ownerPlans.map((name) => planOf(plans, name));
  const rates = kind === 'legacy_token' ? deciding.find((each) => each.includes_api) : plan;
  if (!rates) return refuse('api_access_not_available');
  if (isBlocked(credential, now)) return refuse('suspended_subscription');
  return { accepted: true, kind, plan, rates };
}
