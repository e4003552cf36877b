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

/** Reads the ledger again for a statement, so that others can compute it. Throws `temporarily_unavailable` when the sink does not answer. */
export const createReadStatementLedger =
  (pool: Pool, ledger: Ledger) =>
  async (workspaceId: string, id: string): Promise<StatementLedger> => {
    const statement = await findResource(pool, workspaceId, 'billing_statements', id);
    if (!statement) throw new Problem('not_found', `There is no statement ${id.slice(0, 64)}.`);
    const { inputs } = statement.attributes;
    const { readings } = await readLedger(ledger, workspaceId, inputs);
    return { known_at: inputs.known_at, readings };
  };

export type ReadStatementLedger = ReturnType<typeof createReadStatementLedger>;
