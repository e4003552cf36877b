import type { accounts, Attributes, credentials } from '@longwave/command-catalog';
import type { z } from 'zod';
import type { Plan, Plans } from '../plans.ts';
import { idleMs } from '../sessions/session.ts';

type CredentialAttributes = z.output<typeof credentials.attributes>;
type AccountAttributes = z.output<typeof accounts.attributes>;

/** Kinds of credentials: those that are recorded, and the access tokens of each API. */
export type CredentialKind =
  CredentialAttributes['kind'] | 'oauth_access_token' | 'mcp_access_token' | 'management_access_token';

/** A stored credential with what its account says today. */
export interface IssuedCredential extends Pick<CredentialAttributes, 'scope' | 'expires_at'> {
  readonly id: string;
  readonly kind: CredentialKind;
  readonly state: string;
  /** The first API key that the account ever had, or that the member ever had in it. */
  readonly firstKeyId?: string | undefined;
  /** The person whom it stands for; undefined for keys and tokens of the account, which stand for its owner. */
  readonly userId?: string | undefined;
  /** Lifecycle state of that person. */
  readonly userState?: string | undefined;
  /** Permissions of that person as a member of the account's organization; undefined for one who is no member. */
  readonly memberPermissions?: Attributes<'memberships'>['permissions'] | undefined;
  /** Of a browser session, or of the grant of an access token. */
  readonly lastUsedAt?: Date;
  /** Of an access token: the client, what was granted to it, and the grant. */
  readonly oauthClientId?: string;
  readonly scopes?: readonly string[];
  /** The purposes of its scopes; absent where a scope needs none. */
  readonly purposes?: readonly string[];
  readonly grantId?: string;
  readonly account: Pick<AccountAttributes, 'plan' | 'subscription' | 'email' | 'owner_user_id'> & {
    readonly id: string;
    readonly workspaceId: string;
    readonly state: string;
    /** False until its owner has provisioned its workspace. */
    readonly hasWorkspace: boolean;
  };
}

/** The APIs that act for people. */
export type Api = 'rest' | 'mcp' | 'management';
/** How the text of a credential came. */
export type Carrier = 'header' | 'cookie';

/** Where each kind is accepted, and how it comes. Everywhere else it is unknown, but for the sentence that `rest` has for MCP tokens. */
const acceptedAt: Readonly<Record<CredentialKind, { readonly apis: readonly Api[]; readonly carrier: Carrier }>> = {
  api_key: { apis: ['rest'], carrier: 'header' },
  legacy_token: { apis: ['rest'], carrier: 'header' },
  oauth_access_token: { apis: ['rest'], carrier: 'header' },
  mcp_access_token: { apis: ['mcp'], carrier: 'header' },
  mcp_personal_token: { apis: ['mcp'], carrier: 'header' },
  management_access_token: { apis: ['management'], carrier: 'header' },
  browser_session: { apis: ['rest', 'management'], carrier: 'cookie' },
};

/** Why a credential is refused: the values of `reason` in a 401, and the two that have a sentence of their own. */
export type CredentialRefusal =
  'unknown_user' | 'api_access_not_available' | 'suspended_subscription' | 'mcp_credential' | 'client_blocked';

export type Verdict =
  | {
      readonly accepted: true;
      readonly kind: CredentialKind;
      readonly plan: Plan;
      /** Whose rate limits count: the account's own plan, for a member's legacy token that of the organization's owner. */
      readonly rates: Plan;
    }
  | { readonly accepted: false; readonly refusal: CredentialRefusal };

/**
 * The authenticated client of a credential, which idempotency keys and rate counters belong to: of API keys the key slot
 * of the account or of the member, named by its first key; of OAuth the client with the person and the account; of browser sessions the console with both; of any
 * other credential itself. A rotation or a refresh keeps it.
 */
export function clientIdOf({ id, kind, firstKeyId, oauthClientId: client, userId, account }: IssuedCredential): string {
  if (kind === 'api_key') return firstKeyId ?? id;
  const whose = userId === undefined ? account.id : `${userId}/${account.id}`;
  if (client !== undefined) return `${client}/${whose}`;
  return kind === 'browser_session' ? `console/${whose}` : id;
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

function isIdle({ kind, lastUsedAt }: IssuedCredential, now: Date): boolean {
  return kind === 'browser_session' && lastUsedAt !== undefined && now.getTime() - lastUsedAt.getTime() >= idleMs;
}

function isOver(credential: IssuedCredential, now: Date): boolean {
  const { state, expires_at: expiresAt, account, userState = 'active' } = credential;
  const expired = expiresAt !== undefined && Date.parse(expiresAt) <= now.getTime();
  const isOfNobody = account.state !== 'active' || userState !== 'active' || isStranger(credential);
  return expired || !['active', 'blocked'].includes(state) || isOfNobody || isIdle(credential, now);
}

/** Whether a credential is in force, whatever the subscription is: a person signs in to pay, too. */
export const isUsable = (credential: IssuedCredential, now: Date): boolean =>
  credential.state === 'active' && !isOver(credential, now);

/** Whether new tokens may be made of a grant. */
export const mayRefresh = (grant: IssuedCredential, now: Date): boolean =>
  isUsable(grant, now) && !isBlocked(grant, now);

/** Whether it stands for a person who neither owns the account nor is a member. */
const isStranger = ({ userId, memberPermissions, account }: IssuedCredential): boolean =>
  userId !== undefined && userId !== account.owner_user_id && memberPermissions === undefined;

/**
 * Decides whether a credential is accepted by an API, and names the first reason in this order: unknown, blocked, a live MCP credential at
 * REST API v1, another API's or another carrier's, the plan's API access (legacy tokens; for members the plan of the organization's owner
 * decides), the subscription. An expired trial blocks legacy tokens only.
 * @param ownerPlans plans of the owners of the organizations that the account is a member of
 */
export function judgeCredential(
  credential: IssuedCredential | undefined,
  { api, carrier }: { readonly api: Api; readonly carrier: Carrier },
  ownerPlans: readonly string[],
  plans: Plans,
  now: Date,
): Verdict {
  if (!credential || isOver(credential, now)) return refuse('unknown_user');
  const { kind } = credential;
  const accepted = acceptedAt[kind];
  const isExpected = accepted.carrier === carrier && accepted.apis.includes(api);
  const isMcpAtRest = kind === 'mcp_access_token' && api === 'rest' && carrier === 'header';
  if (!isExpected && !isMcpAtRest) return refuse('unknown_user');
  if (credential.state === 'blocked') return refuse('client_blocked');
  if (isMcpAtRest) return refuse(isBlocked(credential, now) ? 'unknown_user' : 'mcp_credential');
  const plan = planOf(plans, credential.account.plan);
  const deciding = ownerPlans.length === 0 ? [plan] : ownerPlans.map((name) => planOf(plans, name));
  const rates = kind === 'legacy_token' ? deciding.find((each) => each.includes_api) : plan;
  if (!rates) return refuse('api_access_not_available');
  if (isBlocked(credential, now)) return refuse('suspended_subscription');
  return { accepted: true, kind, plan, rates };
}
