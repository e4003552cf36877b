import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';

/** What happens to the access of a person. */
type SecurityEventKind = 'signed_in' | 'password_changed' | 'consent_given' | 'reuse_detected' | 'grant_revoked';

/** Records what happened; nothing in `detail` is secret. */
export async function recordSecurityEvent(
  pool: Pool,
  userId: string,
  kind: SecurityEventKind,
  at: Date,
  detail: Readonly<Record<string, string>> = {},
): Promise<void> {
  await pool.query('insert into security_event (id, user_id, kind, at, detail) values ($1, $2, $3, $4, $5)', [
    newId('evt'),
    userId,
    kind,
    at,
    detail,
  ]);
}
