import type pg from 'pg';

/** How much longer than the server's limit of a statement its answer is waited for. */
const graceMs = 5_000;

/** After this time without an answer the connection is dead: an answer, or the server's own error, would have come. No limit stays none. */
export const answerTimeoutMs = (statementTimeoutMs: number): number =>
  statementTimeoutMs === 0 ? 0 : statementTimeoutMs + graceMs;

/** Whether a connection brought no answer in time: `pg` then says these words, and the connection is of no use any more. */
export const isAnswerTimeout = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout';

/** The part of `pg`'s client that its types leave out: its time limit for statements that bring none of their own. */
interface TimedClient {
  readonly connectionParameters: { query_timeout?: number | undefined };
}

const parametersOf = (client: pg.PoolClient) => (client as unknown as TimedClient).connectionParameters;

/** Gives every later statement of a transaction this time, in place of its pool's; 0: as long as it takes. */
export async function setStatementTimeout(tx: pg.PoolClient, timeoutMs: number): Promise<void> {
  parametersOf(tx).query_timeout = answerTimeoutMs(timeoutMs);
  await tx.query(`set local statement_timeout = ${timeoutMs}`);
}

/** Gives the statements of a connection their pool's time again. */
export function restoreStatementTimeout(pool: pg.Pool, client: pg.PoolClient): void {
  parametersOf(client).query_timeout = pool.options.query_timeout;
}
