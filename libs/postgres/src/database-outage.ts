import { Problem } from '@longwave/problems';
import { isAnswerTimeout } from './answer-timeout.ts';
import { isChangedResult } from './changed-result.ts';

/**
 * Codes of errors that PostgreSQL cannot be reached, refuses connections or is stopping: SQLSTATE class 08, 53100 (its disk is full), 53300 and 57P01 to 57P03
 * (PostgreSQL, appendix A), socket errors, the driver's own words for a lost connection, and those of a read replica that ends a query
 * because it keeps rows from being removed (PostgreSQL, 26.4.2). A statement with a changed result succeeds on another connection.
 */
const outageCode =
  /^(?:08\w{3}|53[13]00|57P0[123]|E(?:CONNREFUSED|CONNRESET|HOSTUNREACH|NETUNREACH|NOTFOUND|PIPE|TIMEDOUT|AI_AGAIN))$/;
const outageMessage =
  /^Connection terminated|^Client has encountered a connection error|timeout exceeded when trying to connect|due to conflict with recovery$/;

/** `temporarily_unavailable` with the error as cause when the error says that the database is away, else undefined. */
export function databaseOutage(error: unknown): Problem | undefined {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const isOutage =
    outageCode.test(String(code)) ||
    outageMessage.test(String(message)) ||
    isAnswerTimeout(error) ||
    isChangedResult(error);
  if (!isOutage) return undefined;
  return new Problem('temporarily_unavailable', undefined, { cause: error, retryAfterSeconds: 1 });
}
