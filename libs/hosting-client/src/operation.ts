import { operationConsequenceSchema } from '@longwave/events';
import { z } from 'zod';

/** An operation, the durable record of one command. */
export const operation = z.strictObject({
  id: z.string(),
  workspace_id: z.string(),
  command_type: z.string(),
  state: z.enum(['accepted', 'running', 'waiting_review', 'succeeded', 'failed', 'cancelled']),
  state_reason: z.string().optional().describe('Why it was cancelled.'),
  subject: z.strictObject({ type: z.string(), id: z.string(), version: z.int() }),
  consequences: operationConsequenceSchema.array().optional(),
  receipt_id: z.string(),
  result: z.strictObject({ type: z.string(), id: z.string(), version: z.int().optional() }).optional(),
  review_task_id: z.string().optional(),
  problem: z.strictObject({ code: z.string(), detail: z.string() }).optional(),
  provider: z
    .strictObject({ external_receipt: z.string().nullable(), ambiguity: z.enum(['none', 'unknown', 'conflicting']) })
    .optional(),
  next_safe_action: z.string(),
  retry_after_s: z.int().optional(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
