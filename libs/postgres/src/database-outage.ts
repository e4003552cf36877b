import { Problem } from '@longwave/problems';
import { isAnswerTimeout } from './answer-timeout.ts';

/**
 * Codes of errors that PostgreSQL cannot be reached, refuses connections or is stopping: SQLSTATE class 08, 53300 and 57P01 to 57P03
 * (PostgreSQL, appendix A), socket errors, and the driver's own words for a lost connection.
 */
const outageCode =
  /^(?:08\w{3}|53300|57P0[123]|E(?:CONNREFUSED|CONNRESET|HOSTUNREACH|NETUNREACH|NOTFOUND|PIPE|TIMEDOUT|AI_AGAIN))$/;
const outageMessage =
  /^Connection terminated|^Client has encountered a connection error|timeout exceeded when trying to connect/;

/** `temporarily_unavailable` with the error as cause when the error says that the database is away, else undefined. */
export function databaseOutage(error: unknown): Problem | undefined {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (!outageCode.test(String(code)) && !outageMessage.test(String(message)) && !isAnswerTimeout(error))
    return undefined;
  return new Problem('temporarily_unavailable', undefined, { cause: error, retryAfterSeconds: 1 });
}
