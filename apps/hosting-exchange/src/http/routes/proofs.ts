import { isProblem } from '@longwave/problems';
import { z } from 'zod';
import { hasOperation, hasReceipt } from '../../messages/message-table.ts';
import { json, notFound, readMs, type ExchangeRoute, type RouteDeps } from '../exchange-route.ts';

const operation = z
  .looseObject({ id: z.string(), state: z.string(), receipt_id: z.string() })
  .describe('As in the Management API.');

const readOperation: ExchangeRoute = {
  operation: 'operation.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/operations/{operation_id}',
  summary: 'The durable state of an operation of this platform’s messages.',
  scope: 'exchange:read',
  answers: { 200: ['The operation.', operation] },
  refusals: [404],
  answer: async ({ client, parameter }, { pool, operations }) => {
    const operationId = parameter('operation_id');
    if (!(await hasOperation(pool, client.authorityId, operationId))) throw notFound('operation');
    const found = await operations.getOperation(
      { workspaceId: client.workspaceId, operationId },
      { deadlineMs: readMs },
    );
    return { status: 200, body: found.operationJson };
  },
};

const readReceipt: ExchangeRoute = {
  operation: 'receipt.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/receipts/{receipt_id}',
  summary: 'The signed receipt of an accepted message.',
  scope: 'exchange:read',
  answers: {
    200: [
      'The receipt.',
      z.strictObject({
        id: z.string(),
        operation_id: z.string(),
        jws: z.string().describe('A compact JWS (Ed25519) by a key of `/keys`.'),
      }),
    ],
  },
  refusals: [404],
  answer: async ({ client, parameter }, { pool, receipts }) => {
    const id = parameter('receipt_id');
    if (!(await hasReceipt(pool, client.authorityId, id))) throw notFound('receipt');
    const found = await receipts.getReceipt({ workspaceId: client.workspaceId, id }, { deadlineMs: readMs });
    return json(200, { id: found.id, operation_id: found.operationId, jws: found.jws });
  },
};

/** A JWK set of Ed25519 keys (RFC 8037). */
export const keySet = z.strictObject({
  keys: z.array(
    z.strictObject({
      ...{ kty: z.literal('OKP'), crv: z.literal('Ed25519'), kid: z.string(), x: z.string() },
      ...{ alg: z.literal('EdDSA'), use: z.literal('sig') },
    }),
  ),
});

/** The public keys as a JWK set, which everybody may read at `/keys` too. */
export async function listKeys({ receipts }: Pick<RouteDeps, 'receipts'>): Promise<object> {
  const { keys } = await receipts.listReceiptKeys({}, { deadlineMs: readMs });
  const jwk = { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' };
  return { keys: keys.map(({ kid, x }) => ({ ...jwk, kid, x })) };
}

const readKeys: ExchangeRoute = {
  operation: 'keys.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/keys',
  summary: 'The public keys that receipts and checkpoints are verified with, earlier ones too.',
  note: 'Everybody may read the same at `/keys`, without a token.',
  scope: 'exchange:read',
  answers: { 200: ['A JWK set.', keySet] },
  refusals: [],
  answer: async (_call, deps) => json(200, await listKeys(deps)),
};

const readCheckpoint: ExchangeRoute = {
  operation: 'checkpoint.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/checkpoint',
  summary:
    'The newest signed checkpoint, with the proof that it contains the head of the workspace’s chain of receipts.',
  note: 'It proves which receipt was the newest of the workspace at its hour. Keep it: a history that is written anew later has another receipt at that place. Receipts of other parties lie between yours and are not shown, so it proves one of yours only where that is the head.',
  scope: 'exchange:read',
  answers: {
    200: [
      'The checkpoint and the proof.',
      z.strictObject({
        checkpoint: z.string().describe('A compact JWS (Ed25519) by a key of `/keys`.'),
        workspace_id: z.string(),
        seq: z.int(),
        head: z.string(),
        leaf_index: z.int(),
        proof: z.array(z.string()),
      }),
    ],
  },
  refusals: [404],
  answer: async ({ client }, { receipts }) => {
    const { workspaceId } = client;
    try {
      const { proof: found } = await receipts.proveChain({ workspaceId }, { deadlineMs: readMs });
      if (!found) throw notFound('checkpoint of this workspace yet');
      const { checkpoint, seq, head, leafIndex, proof } = found;
      return json(200, { checkpoint, workspace_id: workspaceId, seq, head, leaf_index: leafIndex, proof });
    } catch (error) {
      if (isProblem(error, 'not_found')) throw notFound('checkpoint of this workspace yet');
      throw error;
    }
  },
};

export const proofRoutes: readonly ExchangeRoute[] = [readOperation, readReceipt, readKeys, readCheckpoint];
