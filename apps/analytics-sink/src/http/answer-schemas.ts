import { rejectionReasons } from '@longwave/audience';
import { problemSchema } from '@longwave/http-kit';
import { z } from 'zod';
import { batchStatusSchema } from '../batches/batch-status.ts';

const count = z.int().min(0);
const sequence = z.int().min(0);

const watermark = z.strictObject({
  contiguous_sequence: sequence.describe('Every sequence from 1 to here was received; 0 when the first is missing.'),
  highest_sequence: sequence.describe('The highest sequence received.'),
  event_time: z.iso.datetime().nullable().describe('The end of the latest window among the contiguous batches.'),
});

const judgement = z.enum(['eligible', ...rejectionReasons, 'excess']);

const accepted = z.strictObject({ batch_id: z.string(), accepted: count, watermark });

const batchStatus = batchStatusSchema.extend({
  judgements: z
    .partialRecord(judgement, count)
    .describe('Rows that became facts, by the rule that leaves them out of the numbers, or `eligible`.'),
  uncounted: z
    .array(z.strictObject({ row: count, rule: judgement }))
    .describe('The first 20 rows that a rule leaves out.'),
});

const producerWatermark = watermark.extend({
  producer: z.string(),
  gaps: z
    .array(z.strictObject({ from: sequence, to: sequence }))
    .describe('The first 20 runs of sequences that are missing below the highest, both ends included.'),
});

/** Every body that the API answers with, by its name in the document. */
export const answerSchemas = {
  Accepted: accepted,
  BatchStatus: batchStatus,
  ProducerWatermark: producerWatermark,
  Problem: problemSchema,
} as const;
