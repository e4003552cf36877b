import type { ReceiptLog, ResourceReader } from '@longwave/command-pipeline';
import type { RpcClient } from '@longwave/rpc';
import type { ReceiptServiceService } from '@longwave/rpc/receipt';
import type { JWK } from 'jose';

type ReceiptClient = Omit<RpcClient<typeof ReceiptServiceService>, 'close'>;

/** auth-server's receipts, about accounts, credentials and members: a log of its own. Rejects while auth-server does not answer. */
export const authorityReceipts = (authServer: ReceiptClient): ReceiptLog => ({
  newestCheckpoint: async () => (await authServer.getCheckpoint({}, {})).checkpoint,

  async proveChain(workspaceId) {
    const { proof } = await authServer.proveChain({ workspaceId }, {});
    if (!proof) return undefined;
    const { workspaceId: workspace_id, leafIndex: leaf_index, ...rest } = proof;
    return { ...rest, workspace_id, leaf_index };
  },

  exportChain: async (workspaceId, after, limit) =>
    (await authServer.exportChain({ workspaceId, after, limit }, {})).receipts,
});

/** One of those receipts by its workspace and id. Throws `not_found`; rejects while auth-server does not answer. */
export const createGetAuthorityReceipt =
  (authServer: ReceiptClient): ResourceReader['getReceipt'] =>
  (workspaceId, id) =>
    authServer.getReceipt({ workspaceId, id }, {});

/** The public keys of those receipts. */
export const findAuthorityKeys = (authServer: ReceiptClient) => async (): Promise<readonly JWK[]> =>
  (await authServer.listReceiptKeys({}, {})).keys.map(({ kid, x }) => ({ kty: 'OKP', crv: 'Ed25519', kid, x }));
