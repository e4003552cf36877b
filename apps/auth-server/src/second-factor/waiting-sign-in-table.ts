import { randomBytes } from 'node:crypto';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import { secretDigest } from '../secret-digest.ts';
import type { SignInProof } from '../sessions/session.ts';

/** A sign-in whose password was right and whose code is missing. */
export interface WaitingSignIn {
  readonly user: { readonly id: string; readonly email: string };
  /** Whether the person had signed in in this browser before. */
  readonly isKnownDevice: boolean;
  readonly passwordGivenAt: Date;
  /** Proves the sign-in once the code was given. */
  readonly proof: SignInProof;
}

/** How long a sign-in waits for its code. */
export const waitSeconds = 600;

/** Lets a sign-in wait for its code; answers the text that the browser keeps. */
export async function createWaitingSignIn(
  pool: Pool,
  signIn: {
    readonly userId: string;
    readonly isKnownDevice: boolean;
    readonly passwordSetAt: Date | null;
    readonly now: Date;
  },
): Promise<string> {
  const { userId, isKnownDevice, passwordSetAt, now } = signIn;
  const text = `lw_wait_${randomBytes(32).toString('base64url')}`;
  await pool.query('delete from waiting_sign_in where expires_at <= $1', [now]);
  await pool.query(
    `insert into waiting_sign_in (digest, user_id, is_known_device, password_given_at, password_set_at, expires_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [secretDigest(text), userId, isKnownDevice, now, passwordSetAt, new Date(now.getTime() + waitSeconds * 1000)],
  );
  return text;
}

const rowSchema = z.object({
  user_id: z.string(),
  email: z.string(),
  is_known_device: z.boolean(),
  password_given_at: z.date(),
  password_set_at: z.date(),
  second_factor_since: z.date(),
});

/** The waiting sign-in of a browser, as long as its person has a second factor and the same password. */
export async function findWaitingSignIn(pool: Pool, text: string, now: Date): Promise<WaitingSignIn | undefined> {
  const { rows } = await pool.query(
    `select w.user_id, u.attributes->>'email' as email, w.is_known_device, w.password_given_at,
            w.password_set_at, f.since as second_factor_since
     from waiting_sign_in w
     join second_factor f on f.user_id = w.user_id
     join password p on p.user_id = w.user_id and p.set_at = w.password_set_at
     join resource u on u.id = w.user_id and u.lifecycle_state = 'active'
     where w.digest = $1 and w.expires_at > $2`,
    [secretDigest(text), now],
  );
  const row = z.array(rowSchema).parse(rows)[0];
  return (
    row && {
      user: { id: row.user_id, email: row.email },
      isKnownDevice: row.is_known_device,
      passwordGivenAt: row.password_given_at,
      proof: { passwordSetAt: row.password_set_at, secondFactorSince: row.second_factor_since },
    }
  );
}

/** Ends the waiting of a sign-in: of two requests at once, one gets true. */
export async function takeWaitingSignIn(pool: Pool, text: string): Promise<boolean> {
  const { rowCount } = await pool.query('delete from waiting_sign_in where digest = $1', [secretDigest(text)]);
  return rowCount === 1;
}
