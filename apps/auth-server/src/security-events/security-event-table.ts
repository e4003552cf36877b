import { newId } from '@longwave/ids';
import type { Pool, Transaction } from '@longwave/postgres';
import { z } from 'zod';

/** What happens to the access of a person, in the words of the settings. */
export const securityEvents = {
  signed_in: 'Signed in',
  session_ended: 'Signed out a browser',
  password_changed: 'The password was changed',
  second_factor_on: 'Signing in takes a code besides the password',
  second_factor_off: 'Signing in takes the password alone',
  codes_refused: 'Too many wrong codes were given after the right password',
  recovery_code_used: 'A recovery code was used',
  recovery_codes_made: 'New recovery codes were made',
  email_changed: 'The address was changed',
  credential_made: 'A key or token was made',
  credential_revoked: 'A key or token was revoked',
  consent_given: 'A program got access',
  reuse_detected: 'A token was used twice, and everything that it led to has ended',
  grant_revoked: 'Access of a program ended',
  programs_ended: 'Access of all programs and agent tokens ended',
} as const;
type SecurityEventKind = keyof typeof securityEvents;

const kinds = Object.keys(securityEvents) as [SecurityEventKind, ...SecurityEventKind[]];
const rowSchema = z.object({
  kind: z.enum(kinds),
  at: z.date(),
  detail: z.record(z.string(), z.string()).nullable(),
});

/** Records what happened; nothing in `detail` is secret. */
export async function recordSecurityEvent(
  db: Pool | Transaction,
  userId: string,
  kind: SecurityEventKind,
  at: Date,
  detail: Readonly<Record<string, string>> = {},
): Promise<void> {
  await db.query('insert into security_event (id, user_id, kind, at, detail) values ($1, $2, $3, $4, $5)', [
    newId('evt'),
    userId,
    kind,
    at,
    detail,
  ]);
}

/** What happened to a person last, the newest first. */
export async function listSecurityEvents(pool: Pool, userId: string): Promise<readonly z.output<typeof rowSchema>[]> {
  const { rows } = await pool.query(
    'select kind, at, detail from security_event where user_id = $1 order by at desc, id desc limit 50',
    [userId],
  );
  return z.array(rowSchema).parse(rows);
}
