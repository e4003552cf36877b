import type { ReceiptKeys, ReceiptLog, ResourceReader } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { ReceiptServiceService } from '@longwave/rpc/receipt';

const maxReceipts = 1_000;

/** The receipts of auth-server's commands. Management asks for the people of a workspace, after it has checked what they may read. */
export function receiptService({
  receipts,
  reader,
  receiptKeys,
}: {
  readonly receipts: ReceiptLog;
  readonly reader: Pick<ResourceReader, 'getReceipt'>;
  readonly receiptKeys: ReceiptKeys;
}): RpcService {
  const callers = ['management'] as const;
  return rpcService(
    ReceiptServiceService,
    {
      exportChain: callers,
      getReceipt: callers,
      proveChain: callers,
      getCheckpoint: callers,
      listReceiptKeys: callers,
    },
    {
      exportChain: async ({ workspaceId, after, limit }) => {
        if (after < 0 || limit < 1 || limit > maxReceipts)
          throw new Problem('validation_failed', `expected after ≥ 0 and limit 1 to ${maxReceipts}`);
        return { receipts: [...(await receipts.exportChain(workspaceId, after, limit))] };
      },
      getReceipt: ({ workspaceId, id }) => reader.getReceipt(workspaceId, id),
      proveChain: async ({ workspaceId }) => {
        const found = await receipts.proveChain(workspaceId);
        if (!found) return { proof: undefined };
        const { workspace_id, leaf_index: leafIndex, ...proof } = found;
        return { proof: { ...proof, workspaceId: workspace_id, leafIndex } };
      },
      getCheckpoint: async () => ({ checkpoint: await receipts.newestCheckpoint() }),
      listReceiptKeys: async () => ({ keys: receiptKeys.list().map(({ kid, x }) => ({ kid: kid!, x: x! })) }),
    },
  );
}
