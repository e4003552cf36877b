import { findResource } from '@longwave/command-pipeline';
import type { LedgerReading } from '@longwave/money';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { readLedger, type Ledger } from './read-ledger.ts';

/** What the ledger says now of a statement, as it was known at the time of the statement. */
export interface StatementLedger {
  readonly known_at: string;
  readonly readings: readonly LedgerReading[];
}

/**
 * Reads the ledger again for a statement, so that others can compute it: one statement of a workspace at a time, as long as the caller waits.
 * Throws `rate_limited` while another one is being read, `temporarily_unavailable` when the sink does not answer.
 */
export function createReadStatementLedger(pool: Pool, ledger: Ledger) {
  const reading = new Set<string>();
  return async (workspaceId: string, id: string, signal: AbortSignal): Promise<StatementLedger> => {
    if (reading.has(workspaceId))
      throw new Problem('rate_limited', 'The ledger of another statement is being read. Wait until it is there.', {
        retryAfterSeconds: 10,
      });
    reading.add(workspaceId);
    try {
      const statement = await findResource(pool, workspaceId, 'billing_statements', id);
      if (!statement) throw new Problem('not_found', `There is no statement ${id.slice(0, 64)}.`);
      const { inputs } = statement.attributes;
      const { readings } = await readLedger(ledger, workspaceId, inputs, signal);
      return { known_at: inputs.known_at, readings };
    } finally {
      reading.delete(workspaceId);
    }
  };
}

export type ReadStatementLedger = ReturnType<typeof createReadStatementLedger>;
