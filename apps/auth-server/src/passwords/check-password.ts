import type { Pool } from '@longwave/postgres';
import type { AttemptLimit, Limit } from './attempt-limit.ts';
import { hashPassword, isOutdated, isPassword } from './password-hash.ts';
import { findLogin, replaceHash } from './password-table.ts';

/** An attempt to sign in. */
interface Attempt {
  readonly email: string;
  readonly password: string;
  /** The address of the client. */
  readonly sender: string;
  /** SHA-256 of the cookie of a browser in which somebody signed in before. */
  readonly deviceDigest: string | undefined;
}

export type PasswordVerdict =
  | {
      readonly outcome: 'accepted';
      readonly userId: string;
      readonly isKnownDevice: boolean;
      /** Since when the person has this password. */
      readonly passwordSetAt: Date | null;
    }
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'throttled'; readonly waitSeconds: number };

const quarterHour = 900;
const hour = 3_600;

/** Of a browser in which the person has signed in before: others cannot use it up. */
const limitsOfDevice = ({ email, deviceDigest }: Attempt): readonly Limit[] => [
  { of: ['device', email, String(deviceDigest)], max: 20, seconds: quarterHour },
];

/**
 * Of everybody else: each address for this person, each address for all persons, and all strangers for this person together. The last one
 * bounds what a network of many addresses can try; meanwhile a known browser and the link of a mail still lead in.
 */
const limitsOfStranger = ({ email, sender }: Attempt): readonly Limit[] => [
  { of: ['pair', email, sender], max: 10, seconds: quarterHour },
  { of: ['sender', sender], max: 60, seconds: quarterHour },
  { of: ['strangers', email], max: 100, seconds: hour },
];

/**
 * Checks a password. The limits come before the hash, which is what costs; a person who does not exist takes the same steps and the same
 * time as one who does.
 */
export const createCheckPassword =
  ({ pool, limit }: { readonly pool: Pool; readonly limit: AttemptLimit }) =>
  async (attempt: Attempt): Promise<PasswordVerdict> => {
    const {
      userId,
      encoded,
      setAt: passwordSetAt,
      isKnownDevice,
    } = await findLogin(pool, attempt.email, attempt.deviceDigest);
    const limits = isKnownDevice ? limitsOfDevice(attempt) : limitsOfStranger(attempt);
    const waitSeconds = await limit.count(limits);
    if (waitSeconds > 0) return { outcome: 'throttled', waitSeconds };
    const isRight = await isPassword(attempt.password, encoded);
    if (!isRight || userId === undefined) return { outcome: 'refused' };
    // Strangers' attempts stay counted: a guess may be among them.
    await limit.forget(limits.slice(0, 1));
    if (encoded !== undefined && isOutdated(encoded))
      await replaceHash(pool, userId, encoded, await hashPassword(attempt.password));
    return { outcome: 'accepted', userId, isKnownDevice, passwordSetAt };
  };

export type CheckPassword = ReturnType<typeof createCheckPassword>;
