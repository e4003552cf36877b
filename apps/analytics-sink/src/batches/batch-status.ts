import { z } from 'zod';
import { rejectionCodes } from './row-facts.ts';

const count = z.int().min(0);

/** The status of a batch; stored, aggregated, rejected and waiting rows add up to `received`. */
export const batchStatusSchema = z.strictObject({
  batch_id: z.string(),
  state: z
    .enum(['stored', 'waiting', 'aggregated'])
    .describe('`waiting` while rows name an arrangement or a serving that is not known yet.'),
  received: count.describe('Rows of the batch: stored, aggregated, rejected and waiting ones.'),
  stored: count.describe('Stored: not processed yet, or of a kind that is not counted.'),
  aggregated: count,
  rejected: count,
  waiting: count,
  rejections: z.array(z.strictObject({ row: count, code: z.enum(rejectionCodes) })).describe('The first 20.'),
  rejected_by_code: z.partialRecord(z.enum(rejectionCodes), count).describe('All rejected rows by code.'),
});

export type BatchStatus = Readonly<z.output<typeof batchStatusSchema>>;

/** A rejected row: its index in the batch, and why. */
export type Rejection = BatchStatus['rejections'][number];
