import { columns, type Columns, type JsonRows } from '@longwave/audience-store';
import type { Pool, Transaction } from '@longwave/postgres';
import type { Batch, BatchRow } from './batch.ts';
import type { BatchStatus, Rejection } from './batch-status.ts';

/** The digest of a batch's body and its first answer (JSON). */
type StoredAnswer = Columns<'batch', 'digest' | 'answer', { answer: string }>;

/** Batches of a producer with this id or under this key: at most two. */
export async function findAnswers(
  tx: Transaction,
  producer: string,
  batchId: string,
  idempotencyKey: string,
): Promise<StoredAnswer[]> {
  const { rows } = await tx.query<StoredAnswer>(
    `select digest, answer::text from batch where producer = $1 and (batch_id = $2 or idempotency_key = $3)`,
    [producer, batchId, idempotencyKey],
  );
  return rows;
}

/** Whether a batch of the producer has this sequence. */
export async function isSequenceTaken(tx: Transaction, producer: string, sequence: number): Promise<boolean> {
  const { rowCount } = await tx.query(`select from batch where producer = $1 and sequence = $2`, [producer, sequence]);
  return rowCount !== 0;
}

/** Stores a batch whole, to be aggregated. */
export async function insertBatch(
  tx: Transaction,
  batch: Batch,
  own: {
    readonly idempotencyKey: string;
    readonly digest: string;
    readonly answer: string;
    readonly receivedAt: Date;
  },
): Promise<void> {
  await tx.query(
    `insert into batch (producer, batch_id, idempotency_key, digest, sequence, window_from, window_to, workspaces, rows, answer,
       received_at, state, received, stored, aggregated, rejected, waiting, rejections, next_attempt_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'stored', $12, $12, 0, 0, 0, '[]', $11)`,
    [
      batch.producer,
      batch.batch_id,
      own.idempotencyKey,
      own.digest,
      batch.sequence,
      batch.window.from,
      batch.window.to,
      [...new Set(batch.rows.map((row) => row.workspace))],
      JSON.stringify(batch.rows),
      own.answer,
      own.receivedAt,
      batch.rows.length,
    ],
  );
}

/** A batch with the outcome of its rows; undefined when a producer has none of this id within these workspaces. */
export async function findBatchStatus(
  pool: Pool,
  producer: string,
  workspaces: Iterable<string>,
  batchId: string,
): Promise<{ readonly status: BatchStatus; readonly rows: readonly BatchRow[] } | undefined> {
  const { rows } = await pool.query<
    Columns<'batch', keyof BatchStatus | 'rows', BatchStatus & { readonly rows: readonly BatchRow[] }>
  >(
    `select batch_id, state, received, stored, aggregated, rejected, waiting, rejections, rejected_by_code, rows from batch
     where producer = $1 and batch_id = $2 and workspaces <@ $3`,
    [producer, batchId, [...workspaces]],
  );
  if (!rows[0]) return undefined;
  const { rows: batchRows, ...status } = rows[0];
  return { status, rows: batchRows };
}

export interface TakenBatch {
  readonly producer: string;
  readonly batchId: string;
  readonly rows: readonly BatchRow[];
}

/** The batch that is due longest, locked until the transaction ends. */
export async function takeBatch(tx: Transaction, now: Date): Promise<TakenBatch | undefined> {
  const { rows } = await tx.query<Columns<'batch', 'producer' | 'batch_id' | 'rows', { rows: BatchRow[] }>>(
    `select producer, batch_id, rows from batch where state = 'stored' and next_attempt_at <= $1
     order by next_attempt_at limit 1 for update skip locked`,
    [now],
  );
  return rows[0] && { producer: rows[0].producer, batchId: rows[0].batch_id, rows: rows[0].rows };
}

/** Puts off a batch that failed: by 1 s, 2 s, 4 s … at most 5 min. */
export async function postponeBatch(pool: Pool, { producer, batchId }: TakenBatch, now: Date): Promise<void> {
  await pool.query(
    `update batch set attempts = attempts + 1,
       next_attempt_at = $3::timestamptz + least(power(2, attempts), 300) * interval '1 s'
     where producer = $1 and batch_id = $2`,
    [producer, batchId, now],
  );
}

const maxRejections = 20;

/** Adds the outcome of some rows to the status of a locked batch. */
export async function addToStatus(
  tx: Transaction,
  batch: { readonly producer: string; readonly batchId: string },
  change: {
    readonly stored: number;
    readonly aggregated: number;
    readonly waiting: number;
    readonly rejections: readonly Rejection[];
  },
): Promise<void> {
  await tx.query(
    `update batch set stored = stored + $3, aggregated = aggregated + $4, waiting = waiting + $5, rejected = rejected + $6,
       rejections = (select coalesce(jsonb_agg(r order by (r->>'row')::int), '[]')
         from (select r from jsonb_array_elements(rejections || $7::jsonb) r order by (r->>'row')::int limit $8) as first),
       rejected_by_code = (select coalesce(jsonb_object_agg(code, rows), '{}') from (
         select code, sum(rows) as rows from (
           select key as code, value::int as rows from jsonb_each_text(rejected_by_code)
           union all
           select r->>'code', 1 from jsonb_array_elements($7::jsonb) r) as each group by code) as counted),
       state = case when waiting + $5 > 0 then 'waiting' else 'aggregated' end
     where producer = $1 and batch_id = $2`,
    [
      batch.producer,
      batch.batchId,
      change.stored,
      change.aggregated,
      change.waiting,
      change.rejections.length,
      JSON.stringify(change.rejections),
      maxRejections,
    ],
  );
}

export interface WaitingRow {
  readonly producer: string;
  readonly batchId: string;
  readonly index: number;
  readonly row: BatchRow;
}

/** Stores rows until the arrangement or serving that they name is known. */
export async function insertWaitingRows(
  tx: Transaction,
  { producer, batchId }: TakenBatch,
  waiting: readonly { readonly index: number; readonly row: BatchRow; readonly awaits: string }[],
): Promise<void> {
  if (waiting.length === 0) return;
  const rows = waiting.map(({ index, row, awaits }): JsonRows['waiting_row'] => ({
    producer,
    batch_id: batchId,
    row_index: index,
    awaits,
    workspace_id: row.workspace,
    row,
    is_ready: false,
  }));
  await tx.query(
    `insert into waiting_row (${columns.waiting_row})
     select ${columns.waiting_row} from json_populate_recordset(null::waiting_row, $1)`,
    [JSON.stringify(rows)],
  );
}

/** Takes up to `limit` waiting rows whose layouts are known; concurrent transactions never take the same row. */
export async function takeReadyRows(tx: Transaction, limit: number): Promise<WaitingRow[]> {
  const { rows } = await tx.query<
    Columns<'waiting_row', 'producer' | 'batch_id' | 'row_index' | 'row', { row: BatchRow }>
  >(
    `with taken as (
       select producer, batch_id, row_index from waiting_row where is_ready
       order by producer, batch_id, row_index limit $1 for update skip locked)
     delete from waiting_row w using taken t
     where (w.producer, w.batch_id, w.row_index) = (t.producer, t.batch_id, t.row_index)
     returning w.producer, w.batch_id, w.row_index, w.row`,
    [limit],
  );
  return rows.map((row) => ({
    producer: row.producer,
    batchId: row.batch_id,
    index: row.row_index,
    row: row.row,
  }));
}
