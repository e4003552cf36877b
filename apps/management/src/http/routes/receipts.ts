import { checkpointProofSchema, checkpointStatementSchema, exportLine } from '@longwave/command-pipeline/receipts';
import { Problem } from '@longwave/problems';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { json, receiptChains, type ManagementRoute, type RouteCall, type RouteDeps } from '../management-route.ts';
import { unreadableTypes } from '../../workspace/access/access.ts';

const maxReceipts = 1_000;

const chainQuery = z.strictObject({
  chain: z
    .enum(receiptChains)
    .default('commands')
    .describe('`authority`: the receipts about accounts, credentials and members, a chain and a log of their own.'),
});

const exportQuery = chainQuery.extend({
  after: z
    .string()
    .regex(/^\d{1,9}$/, 'Send the place of a receipt: a number from 0.')
    .transform(Number)
    .optional()
    .describe('The place of the last receipt that you have; 0 or absent: from the first.'),
});

/** Throws unless the actor may read the chain: whoever manages members reads what was done to them. */
function checkChain(
  access: RouteDeps['access'],
  actor: RouteCall['actor'],
  workspaceId: string,
  chain: (typeof receiptChains)[number],
): void {
  access.checkWorkspace(actor, workspaceId);
  if (chain === 'authority') access.checkManager(actor, workspaceId);
}

/**
 * Throws unless the actor may read every receipt of the chain. Each names its subject and says what reviewers decided and noted, and a chain
 * without some receipts verifies nothing: so a chain is exported whole, and of `commands` to who may read every type.
 */
function checkExport(...[access, actor, workspaceId, chain]: Parameters<typeof checkChain>): void {
  checkChain(access, actor, workspaceId, chain);
  const hidden = chain === 'commands' ? unreadableTypes(actor, workspaceId) : [];
  if (hidden.length === 0) return;
  const detail = `The chain has receipts about ${hidden.join(', ')}, which your roles do not read. Read receipts by their ids.`;
  throw new Problem('permission_denied', detail);
}

const noCheckpoint = (fact: string) =>
  new Problem('not_found', `${fact}: one is made hourly. Ask again within the hour.`);

const signedCheckpoint = z.strictObject({
  checkpoint: checkpointProofSchema.shape.checkpoint,
  statement: checkpointStatementSchema.describe('What it states, decoded for reading.'),
});

const exportChain: ManagementRoute = {
  operation: 'receipt.export',
  method: 'GET',
  path: '/workspaces/{workspace_id}/receipts',
  summary: 'The workspace’s chain of receipts, for verification without the service.',
  note: `One line of JSON for each receipt, \`{"seq", "id", "jws"}\`, at most ${maxReceipts}; an answer with fewer is the end. Append the answers to one file: \`longwave receipts verify FILE\` checks it. The chain \`commands\` is exported to roles that read every type, statements too.`,
  scope: 'management:read',
  query: exportQuery,
  answers: {
    200: {
      description: 'The next receipts.',
      body: { name: 'ReceiptExport', schema: z.string() },
      mediaType: 'application/jsonl',
    },
  },
  refusals: ['permission_denied'],
  answer: async ({ actor, workspaceId, query }, { access, receipts }) => {
    const { chain, after = 0 } = query as z.output<typeof exportQuery>;
    checkExport(access, actor, workspaceId, chain);
    const rows = await receipts[chain].exportChain(workspaceId, after, maxReceipts);
    return {
      status: 200,
      contentType: 'application/jsonl',
      stream: async (response) => void response.end(rows.map(exportLine).join('')),
    };
  },
};

const readCheckpoint: ManagementRoute = {
  operation: 'checkpoint.read',
  method: 'GET',
  path: '/checkpoint',
  summary: 'The newest signed checkpoint: one is made every hour over the receipt chains of all workspaces.',
  scope: null,
  query: chainQuery,
  answers: { 200: { description: 'The checkpoint.', body: { name: 'Checkpoint', schema: signedCheckpoint } } },
  refusals: ['not_found'],
  answer: async ({ query }, { receipts }) => {
    const { chain } = query as z.output<typeof chainQuery>;
    const checkpoint = await receipts[chain].newestCheckpoint();
    if (checkpoint === undefined) throw noCheckpoint('There is no checkpoint yet');
    return json(
      { checkpoint, statement: decodeJwt(checkpoint) },
      { headers: { 'Cache-Control': 'public, max-age=60' } },
    );
  },
};

const proveChain: ManagementRoute = {
  operation: 'checkpoint.prove',
  method: 'GET',
  path: '/workspaces/{workspace_id}/checkpoint',
  summary: 'The newest checkpoint with the proof that it contains the workspace’s chain.',
  note: 'A chain that began after it has no proof yet: 404.',
  scope: 'management:read',
  query: chainQuery,
  answers: {
    200: { description: 'The proof.', body: { name: 'CheckpointProof', schema: checkpointProofSchema } },
  },
  refusals: ['not_found', 'permission_denied'],
  answer: async ({ actor, workspaceId, query }, { access, receipts }) => {
    const { chain } = query as z.output<typeof chainQuery>;
    checkChain(access, actor, workspaceId, chain);
    const proof = await receipts[chain].proveChain(workspaceId);
    if (!proof) throw noCheckpoint('There is no checkpoint of this chain yet');
    return json(proof);
  },
};

/** Receipts and checkpoints as a log that anyone can verify. */
export const receiptRoutes: readonly ManagementRoute[] = [exportChain, proveChain, readCheckpoint];
