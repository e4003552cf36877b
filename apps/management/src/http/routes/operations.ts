import { notFoundProblem, type OperationView } from '@longwave/command-pipeline';
import { isProblem } from '@longwave/problems';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { json, type ManagementRoute, type RouteCall, type RouteDeps } from '../management-route.ts';
import { operationSchema } from '../operation-schema.ts';

const receiptSchema = z.strictObject({
  id: z.string(),
  workspace_id: z.string(),
  operation_id: z.string(),
  statement: z.record(z.string(), z.unknown()).describe('What the receipt states, decoded for reading.'),
  jws: z.string().describe('The same statement, signed: a compact JWS (Ed25519) by a key of `/keys`.'),
});

/** An operation whose subject the actor sees. Throws the `not_found` of an unknown id of this noun for any other. */
async function visibleOperation(
  { actor, workspaceId }: RouteCall,
  { access, reader }: RouteDeps,
  id: string,
  asked: { readonly noun: string; readonly id: string },
): Promise<OperationView> {
  try {
    const operation = await reader.getOperation(workspaceId, id);
    await access.getVisible(actor, workspaceId, operation.subject.type, operation.subject.id);
    return operation;
  } catch (error) {
    throw isProblem(error, 'not_found') ? notFoundProblem(asked, asked.id) : error;
  }
}

const readOperation: ManagementRoute = {
  operation: 'operation.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/operations/{operation_id}',
  summary: 'The state of a command’s work.',
  scope: 'management:read',
  answers: {
    200: {
      description: 'The operation.',
      body: { name: 'Operation', schema: operationSchema },
      headers: { 'Retry-After': 'Seconds until asking again is worthwhile; absent when the operation is over.' },
    },
  },
  refusals: ['not_found'],
  answer: async (call, deps) => {
    const id = call.parameter('operation_id');
    const operation = await visibleOperation(call, deps, id, { noun: 'operation', id });
    const { retry_after_s: retryAfter } = operation;
    return json(operation, { ...(retryAfter !== undefined && { headers: { 'Retry-After': String(retryAfter) } }) });
  },
};

const readReceipt: ManagementRoute = {
  operation: 'receipt.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/receipts/{receipt_id}',
  summary: 'The proof that a command was accepted; it does not prove that anything was delivered.',
  scope: 'management:read',
  answers: { 200: { description: 'The receipt.', body: { name: 'Receipt', schema: receiptSchema } } },
  refusals: ['not_found'],
  answer: async (call, deps) => {
    const id = call.parameter('receipt_id');
    const { operationId, jws } = await deps.reader.getReceipt(call.workspaceId, id);
    await visibleOperation(call, deps, operationId, { noun: 'receipt', id });
    return json({
      id,
      workspace_id: call.workspaceId,
      operation_id: operationId,
      statement: decodeJwt(jws),
      jws,
    });
  },
};

/** Operations and receipts. */
export const operationRoutes: readonly ManagementRoute[] = [readOperation, readReceipt];
