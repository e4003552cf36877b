import type { accounts, credentials } from '@longwave/command-catalog';
import type { z } from 'zod';
import type { Plan, Plans } from '../plans.ts';

type CredentialAttributes = z.output<typeof credentials.attributes>;
type AccountAttributes = z.output<typeof accounts.attributes>;

/** A stored credential with what its account says today. */
export interface IssuedCredential extends Pick<CredentialAttributes, 'kind' | 'scope'> {
  readonly id: string;
  readonly state: string;
  readonly account: Pick<AccountAttributes, 'plan' | 'subscription'> & {
    readonly id: string;
    readonly workspaceId: string;
    readonly state: string;
  };
}

/** Why a credential is refused; the words of the contract's `reason`. */
export type CredentialRefusal = 'unknown_user' | 'api_access_not_available' | 'suspended_subscription';

export type Verdict =
  { readonly accepted: true; readonly plan: Plan } | { readonly accepted: false; readonly refusal: CredentialRefusal };

const refuse = (refusal: CredentialRefusal): Verdict => ({ accepted: false, refusal });

function isBlocked({ kind, account }: IssuedCredential, now: Date): boolean {
  const { state, trial_ends_at: trialEndsAt } = account.subscription;
  if (state === 'canceled' || state === 'suspended') return true;
  const trialOver = state === 'trialing' && trialEndsAt !== undefined && Date.parse(trialEndsAt) <= now.getTime();
  return kind === 'legacy_token' && trialOver;
}

/**
 * Contract, Authentication, rules 3 and 4: unknown first, then the plan's API access (legacy tokens), then the
 * subscription; an expired trial blocks legacy tokens only.
 */
export function judgeCredential(credential: IssuedCredential | undefined, plans: Plans, now: Date): Verdict {
  if (credential?.state !== 'active' || credential.account.state !== 'active') return refuse('unknown_user');
  const plan = plans.get(credential.account.plan);
  if (!plan) throw new Error(`account ${credential.account.id} is on a plan that the plan file does not have`);
  if (credential.kind === 'legacy_token' && !plan.includes_api) return refuse('api_access_not_available');
  if (isBlocked(credential, now)) return refuse('suspended_subscription');
  return { accepted: true, plan };
}
