import { z } from 'zod';
import { defineRoute, type AnswerShape } from '../route.ts';

/** An operation, as management records it. */
const operation: AnswerShape = {
  name: 'Operation',
  schema: z.strictObject({
    id: z.string(),
    workspace_id: z.string(),
    command_type: z.string(),
    state: z.enum(['accepted', 'running', 'waiting_review', 'succeeded', 'failed', 'cancelled']),
    subject: z.strictObject({ type: z.string(), id: z.string(), version: z.int() }),
    receipt_id: z.string(),
    review_task_id: z.string().optional(),
    problem: z.strictObject({ code: z.string(), detail: z.string() }).optional(),
    next_safe_action: z.string(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
};

/** GET /operations/{id}. */
export const readOperation = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'operationGet',
    summary: 'Reads the operation, the durable record of one command.',
    answer: operation,
    refusals: [404],
    run: async ({ caller, id }, { management }) => ({ status: 200, body: await management.findOperation(caller, id) }),
  });
