import { Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { ReceiptServiceService } from '@longwave/rpc/receipt';
import type { CallerName } from '@longwave/services';
import type { ReceiptLog } from '../store/checkpoint-table.ts';
import type { ReceiptKeys } from '../store/receipt-keys.ts';
import type { ResourceReader } from './read-resources.ts';

const maxReceipts = 1_000;

/** The receipts of a service's commands, for other services that have checked whose workspace they read. */
export function receiptService({
  receipts,
  reader,
  receiptKeys,
  callers,
}: {
  readonly receipts: ReceiptLog;
  readonly reader: Pick<ResourceReader, 'getReceipt'>;
  readonly receiptKeys: ReceiptKeys;
  readonly callers: readonly CallerName[];
}): RpcService {
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
