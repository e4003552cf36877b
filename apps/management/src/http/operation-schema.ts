import { nextSafeActions, operationStates } from '@longwave/command-pipeline';
import { operationConsequenceSchema } from '@longwave/events';
import { z } from 'zod';

/** An operation as the API answers it. */
export const operationSchema = z.strictObject({
  id: z.string(),
  workspace_id: z.string(),
  command_type: z.string(),
  state: z.enum(operationStates),
  state_reason: z.string().optional().describe('Why it was cancelled.'),
  subject: z
    .strictObject({ type: z.string(), id: z.string(), version: z.int().min(0) })
    .describe(
      'The resource that the command changes, with its version at the time of this answer; 0 while a new one waits for its review. A repeated command is answered as at first.',
    ),
  consequences: operationConsequenceSchema
    .array()
    .optional()
    .describe('Other resources that changed in the same transaction; absent when there is none.'),
  receipt_id: z.string().describe('The receipt of the acceptance.'),
  result: z
    .strictObject({ type: z.string(), id: z.string(), version: z.int().min(0).optional() })
    .optional()
    .describe(
      'What it made or changed, with the version that it made where that is its subject; absent unless it has succeeded. The receipt states this version too.',
    ),
  problem: z
    .strictObject({ code: z.string(), detail: z.string() })
    .optional()
    .describe('Why it failed; absent unless it has.'),
  review: z
    .strictObject({
      declared: z.enum(['single', 'dual', 'policy', 'host']).describe('What the catalog declares for the command.'),
      applied: z
        .enum(['none', 'single', 'dual'])
        .describe('Approvals by other people that it needed, among those that there are.'),
    })
    .optional()
    .describe('Absent when its command declares no review, or a service sent it.'),
  review_task_id: z.string().optional().describe('The review of its command; absent when it needs none.'),
  provider: z
    .strictObject({
      external_receipt: z.string().nullable().describe('The provider’s own reference; null while it has given none.'),
      ambiguity: z
        .enum(['none', 'unknown', 'conflicting'])
        .describe(
          'unknown: the provider may or may not have acted. conflicting: its statements contradict each other.',
        ),
    })
    .optional()
    .describe('The part that a provider outside the service has; absent when none was asked.'),
  next_safe_action: z.enum(nextSafeActions).describe('What a client may safely do next.'),
  retry_after_s: z
    .int()
    .min(0)
    .optional()
    .describe('Seconds until asking again is worthwhile; absent when the operation is over.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
