import type { Attributes } from '@longwave/command-catalog';
import type { Principal } from '@longwave/principal';

/** A session ends this long after the password was given, and this long after its last use. */
export const sessionMs = 12 * 3_600_000;
export const idleMs = 2 * 3_600_000;

/** How long after the password was given credentials may be made and shown, and members and the address changed. */
const freshMs = 15 * 60_000;

/**
 * The password and the second factor that a person gave, each named by the time since when the person has it; null without one. What was
 * begun with them counts while the person has the same.
 */
export interface SignInProof {
  readonly passwordSetAt: Date | null;
  readonly secondFactorSince: Date | null;
}

/** A browser in which a person is signed in to an account. */
export interface Session {
  readonly credentialId: string;
  /** When the password was given last. */
  readonly signedInAt: Date;
  readonly proof: SignInProof;
  readonly expiresAt: Date;
  readonly user: Attributes<'users'> & { readonly id: string; readonly workspaceId: string };
  readonly account: Attributes<'accounts'> & { readonly id: string; readonly workspaceId: string };
  /** Those of the person in the account's workspace. */
  readonly roles: Principal['roles'];
  readonly principal: Principal;
}

/** Whether the password was given a short time ago. */
export const isFresh = ({ signedInAt }: Pick<Session, 'signedInAt'>, now: Date): boolean =>
  now.getTime() - signedInAt.getTime() < freshMs;
