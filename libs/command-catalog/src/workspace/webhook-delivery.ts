import { z } from 'zod';

/** Why the last attempt at a delivery failed, or why there was none (docs/webhooks.md). */
export const webhookDeliveryProblems = [
  'endpoint_disabled',
  'endpoint_deleted',
  'secret_unavailable',
  'address_refused',
  'not_reachable',
  'certificate_invalid',
  'timeout',
  'redirected',
  'status',
  'gone',
] as const;

export const webhookDeliveryStates = ['pending', 'delivered', 'failed'] as const;

const problem = z.enum(webhookDeliveryProblems);

/** A delivery of a message to a webhook endpoint, as every API shows it. */
export const webhookDeliverySchema = z.strictObject({
  id: z.string(),
  message_id: z.string().describe('The `id` of the message, and its header `webhook-id`.'),
  type: z.string().describe('The type of the message.'),
  state: z.enum(webhookDeliveryStates),
  problem: problem.optional().describe('Why the last attempt failed, or why there was none; absent when it succeeded.'),
  occurred_at: z.iso.datetime(),
  created_at: z.iso.datetime(),
  next_attempt_at: z.iso.datetime().optional().describe('Only while it is pending.'),
  ended_at: z.iso.datetime().optional().describe('Only when it is delivered or has failed.'),
  attempts: z
    .array(
      z.strictObject({
        number: z.int().min(1),
        started_at: z.iso.datetime(),
        duration_ms: z.int().min(0),
        status: z.int().optional().describe('HTTP status; absent when there was no answer.'),
        problem: problem.optional().describe('Absent when it succeeded.'),
        answer: z.string().optional().describe('The first 1,024 bytes of the answer to a failed attempt.'),
      }),
    )
    .describe('Oldest first.'),
});

export type WebhookDelivery = z.output<typeof webhookDeliverySchema>;
