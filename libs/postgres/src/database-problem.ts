import { Problem } from '@longwave/problems';
import { databaseOutage } from './database-outage.ts';
import { isStatementTimeout } from './statement-timeout.ts';

/** SQLSTATE `character_not_in_repertoire` and `untranslatable_character`: a text holds NUL (PostgreSQL, appendix A). */
const illegalTextCodes: readonly unknown[] = ['22021', '22P05'];

/**
 * What a failed query means for the caller, with the error as cause: `temporarily_unavailable` when the database is away, `timeout` when the
 * statement took too long, `validation_failed` for a text that no column can hold. Undefined for any other error.
 */
export function databaseProblem(error: unknown): Problem | undefined {
  if (isStatementTimeout(error)) return new Problem('timeout', undefined, { cause: error, retryAfterSeconds: 5 });
  if (illegalTextCodes.includes((error as { readonly code?: unknown } | null)?.code))
    return new Problem('validation_failed', 'A text holds a character that cannot be stored.', { cause: error });
  return databaseOutage(error);
}
