import type { EventJudgement } from '@longwave/audience';
import type { Columns } from '@longwave/audience-store';
import type { Pool } from '@longwave/postgres';
import type { BatchRow } from './batch.ts';
import { rowFactId } from './row-facts.ts';

/** The judgements of the rows of a batch that became facts (docs/counting.md#rules-and-reason-codes). */
export interface RowJudgements {
  /** Rows by judgement: `eligible`, or the code of the rule that leaves them out. */
  readonly judgements: Readonly<Partial<Record<EventJudgement, number>>>;
  /** The first 20 rows that a rule leaves out. */
  readonly uncounted: readonly { readonly row: number; readonly rule: EventJudgement }[];
}

const maxUncounted = 20;

/** Reads the judgements of these rows' facts. A judgement may change while more rows of the same request arrive. */
export async function findRowJudgements(
  pool: Pool,
  producer: string,
  rows: readonly BatchRow[],
): Promise<RowJudgements> {
  const ids = rows.map((row) => rowFactId(producer, row));
  const { rows: found } = await pool.query<Columns<'fact', 'fact_id' | 'judgement', { judgement: EventJudgement }>>(
    `select fact_id, judgement from fact where fact_id = any($1) and judgement is not null
     union all
     select fact_id, judgement from client_event where fact_id = any($1) and judgement is not null`,
    [[...new Set(ids.filter((id) => id !== undefined))]],
  );
  const judgementOf = new Map(found.map((one) => [one.fact_id, one.judgement]));
  const judgements: Partial<Record<EventJudgement, number>> = {};
  const uncounted: { row: number; rule: EventJudgement }[] = [];
  for (const [row, id] of ids.entries()) {
    const judgement = judgementOf.get(id ?? '');
    if (judgement === undefined) continue;
    judgements[judgement] = (judgements[judgement] ?? 0) + 1;
    if (judgement !== 'eligible' && uncounted.length < maxUncounted) uncounted.push({ row, rule: judgement });
  }
  return { judgements, uncounted };
}
