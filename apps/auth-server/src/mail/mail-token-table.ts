import { randomBytes } from 'node:crypto';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import { secretDigest } from '../secret-digest.ts';

/** The steps for which the link of a mail proves an address. */
export type MailPurpose = 'sign_up' | 'reset' | 'change_email';

const lifeMs = 3_600_000;

const rowSchema = z.object({ email: z.string(), name: z.string().nullable(), user_id: z.string().nullable() });

/** The person and the address that a mail is about. */
export interface MailToken {
  readonly email: string;
  /** Of a person who signs up. */
  readonly name?: string | undefined;
  /** The person who moves to the address. */
  readonly userId?: string | undefined;
}

/** A new token for a link; only its digest is stored, for an hour. */
export async function createMailToken(pool: Pool, purpose: MailPurpose, about: MailToken, now: Date): Promise<string> {
  const token = `lw_once_${randomBytes(32).toString('base64url')}`;
  await pool.query('delete from mail_token where expires_at <= $1', [now]);
  await pool.query(
    'insert into mail_token (digest, purpose, email, name, user_id, expires_at) values ($1, $2, $3, $4, $5, $6)',
    [
      secretDigest(token),
      purpose,
      about.email,
      about.name ?? null,
      about.userId ?? null,
      new Date(now.getTime() + lifeMs),
    ],
  );
  return token;
}

const parseRow = (row: unknown): MailToken | undefined => {
  if (row === undefined) return undefined;
  const { email, name, user_id: userId } = rowSchema.parse(row);
  return { email, name: name ?? undefined, userId: userId ?? undefined };
};

/** Finds the person and the address of a token, as long as it is valid. */
export async function findMailToken(
  pool: Pool,
  purpose: MailPurpose,
  token: string,
  now: Date,
): Promise<MailToken | undefined> {
  const { rows } = await pool.query(
    'select email, name, user_id from mail_token where digest = $1 and purpose = $2 and expires_at > $3',
    [secretDigest(token), purpose, now],
  );
  return parseRow(rows[0]);
}

/** Uses a token up: of two requests at once, one gets what it is for. */
export async function takeMailToken(
  pool: Pool,
  purpose: MailPurpose,
  token: string,
  now: Date,
): Promise<MailToken | undefined> {
  const { rows } = await pool.query(
    'delete from mail_token where digest = $1 and purpose = $2 and expires_at > $3 returning email, name, user_id',
    [secretDigest(token), purpose, now],
  );
  return parseRow(rows[0]);
}

/** Ends every token that was sent to an address, or for a person. */
export async function deleteMailTokens(pool: Pool, { email, userId }: MailToken): Promise<void> {
  await pool.query('delete from mail_token where email = $1 or user_id = $2', [email, userId ?? null]);
}
