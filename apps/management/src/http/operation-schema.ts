import { operationConsequenceSchema } from '@longwave/events';
import { z } from 'zod';

/** An operation as the API answers it. */
export const operationSchema = z.strictObject({
  id: z.string(),
  workspace_id: z.string(),
  command_type: z.string(),
  state: z.enum(['accepted', 'running', 'waiting_review', 'succeeded', 'failed', 'cancelled']),
  subject: z
    .strictObject({ type: z.string(), id: z.string(), version: z.int() })
    .describe('The resource that the command changes, with the version that the operation has made of it.'),
  consequences: operationConsequenceSchema
    .array()
    .optional()
    .describe('Other resources that changed in the same transaction; absent when there is none.'),
  receipt_id: z.string().describe('The receipt of the acceptance.'),
  problem: z
    .looseObject({ code: z.string(), detail: z.string() })
    .optional()
    .describe('Why it failed; absent unless it has.'),
  review_task_id: z.string().optional().describe('The review of its command; absent when it needs none.'),
  next_safe_action: z.string().describe('What a client may safely do next.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
