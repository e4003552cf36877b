import { findReplay } from '@longwave/idempotency';
import { transaction, type Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { findAnswers, insertBatch, isSequenceTaken } from './batch-table.ts';
import type { Batch } from './batch.ts';
import { advanceWatermark, lockWatermark } from './watermark-table.ts';

export interface Acceptance {
  /** JSON; a repetition has the same text. */
  readonly answer: string;
  readonly replayed: boolean;
}

const conflict = () =>
  new Problem('idempotency_conflict', 'This batch ID or idempotency key was already used with another body.');

/**
 * Accepts a whole batch durably; a repetition gets the first answer. Batches of one producer are accepted one after the other.
 * Throws `idempotency_conflict` when the id or the key names another body, `value_taken` when the sequence names another batch.
 */
export function acceptBatch(
  pool: Pool,
  batch: Batch,
  request: { readonly idempotencyKey: string; readonly digest: string; readonly receivedAt: Date },
): Promise<Acceptance> {
  const { producer, batch_id: batchId, sequence } = batch;
  return transaction(pool, async (tx) => {
    const before = await lockWatermark(tx, producer);
    const known = await findAnswers(tx, producer, batchId, request.idempotencyKey);
    const first = findReplay(known, request.digest, conflict);
    if (first) return { answer: first.answer, replayed: true };
    if (await isSequenceTaken(tx, producer, sequence))
      throw new Problem('value_taken', '/sequence: Another batch has this sequence.', {
        errors: [{ path: '/sequence', code: 'value_taken', detail: 'Another batch has this sequence.' }],
      });
    const watermark = await advanceWatermark(tx, producer, before, { sequence, windowTo: batch.window.to });
    const answer = JSON.stringify({ batch_id: batchId, accepted: batch.rows.length, watermark });
    await insertBatch(tx, batch, { ...request, answer });
    return { answer, replayed: false };
  });
}
