import type { Pool } from '@longwave/postgres';
import type { AttemptLimit, Limit } from '../passwords/attempt-limit.ts';
import { secretDigest } from '../secret-digest.ts';
import { tryParseRecoveryCode } from './recovery-code.ts';
import { findSecondFactor, takeRecoveryCode, takeStep } from './second-factor-table.ts';
import type { SecretSeal } from './secret-seal.ts';
import type { TellSecondFactorEvent } from './tell-second-factor-event.ts';
import { stepOf } from './totp.ts';

/** A code that a person gives. */
interface CodeAttempt {
  readonly user: { readonly id: string; readonly email: string };
  /** A code of the app or a recovery code, as it was typed. */
  readonly code: string;
  /** The address of the client. */
  readonly sender: string;
}

export type CodeVerdict =
  { readonly outcome: 'accepted' | 'refused' } | { readonly outcome: 'throttled'; readonly waitSeconds: number };

const quarterHour = 900;
const day = 86_400;

const limitOfSender = ({ sender }: CodeAttempt): Limit => ({
  of: ['code-sender', sender],
  max: 60,
  seconds: quarterHour,
});

/**
 * Of a million codes three are right at a time. The last limit bounds what all addresses together can try of one person, whose password
 * they must know: with 50 attempts a day one of 6,000 days is a lucky one. Meanwhile a recovery code still leads in.
 */
const limitsOfCode = (attempt: CodeAttempt): readonly Limit[] => [
  { of: ['code-pair', attempt.user.id, attempt.sender], max: 5, seconds: quarterHour },
  limitOfSender(attempt),
  { of: ['codes', attempt.user.id], max: 50, seconds: day },
];

/** Nobody can guess one of 100 bits, so the attempts of strangers do not keep its owner out. */
const limitsOfRecoveryCode = (attempt: CodeAttempt): readonly Limit[] => [
  { of: ['recovery-pair', attempt.user.id, attempt.sender], max: 10, seconds: quarterHour },
  limitOfSender(attempt),
];

/** The person hears that somebody has the password; a mail for each attempt would help nobody. */
const limitOfWarnings = ({ user }: CodeAttempt): Limit => ({ of: ['code-warning', user.id], max: 1, seconds: day });

export interface CheckCodeDeps {
  readonly pool: Pool;
  readonly limit: AttemptLimit;
  readonly seal: SecretSeal;
  readonly tell: TellSecondFactorEvent;
  readonly clock: () => Date;
}

/** Checks a code and uses it up: it works once. Every attempt is counted before it is checked. */
export function createCheckCode({ pool, limit, seal, tell, clock }: CheckCodeDeps) {
  async function takeAppCode({ user, code }: CodeAttempt): Promise<boolean> {
    const factor = await findSecondFactor(pool, user.id);
    if (!factor) return false;
    const secret = await seal.open(user.id, factor.sealed, clock());
    if (secret === undefined) throw new Error('a second factor cannot be read: SECOND_FACTOR_KEYS lacks its key');
    const step = stepOf(secret, code, clock());
    if (step === undefined) return false;
    // Sealed anew, so that after some time nothing needs an older key.
    const sealed = await seal.seal(user.id, secret);
    return takeStep(pool, user.id, { since: factor.since, step, sealed });
  }

  return async (attempt: CodeAttempt): Promise<CodeVerdict> => {
    const recoveryCode = tryParseRecoveryCode(attempt.code);
    const limits = recoveryCode === undefined ? limitsOfCode(attempt) : limitsOfRecoveryCode(attempt);
    const waitSeconds = await limit.count(limits);
    if (waitSeconds > 0) {
      if ((await limit.count([limitOfWarnings(attempt)])) === 0) await tell(attempt.user, 'codes_refused');
      return { outcome: 'throttled', waitSeconds };
    }
    if (recoveryCode === undefined) {
      if (!(await takeAppCode(attempt))) return { outcome: 'refused' };
    } else {
      if (!(await takeRecoveryCode(pool, attempt.user.id, secretDigest(recoveryCode)))) return { outcome: 'refused' };
      await tell(attempt.user, 'recovery_code_used');
    }
    await limit.forget(limits.slice(0, 1));
    return { outcome: 'accepted' };
  };
}

export type CheckCode = ReturnType<typeof createCheckCode>;
