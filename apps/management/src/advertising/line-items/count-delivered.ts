import type { RpcClient } from '@longwave/rpc';
import type { AudienceServiceService } from '@longwave/rpc/audience';

/** Counts all delivered ads of a line item (docs/counting.md). Throws `temporarily_unavailable` when the sink does not answer. */
export type CountDelivered = (workspaceId: string, lineItemId: string) => Promise<number>;

const dayMs = 86_400_000;

/** Asks the sink for the ads that a line item has delivered. */
export const createCountDelivered =
  (countAds: RpcClient<typeof AudienceServiceService>['countAds'], clock: () => Date): CountDelivered =>
  async (workspaceId, lineItemId) => {
    const { delivered } = await countAds(
      {
        workspaceId,
        // From the epoch to tomorrow: every download, those that begin now included.
        range: { fromMs: 0n, toMs: BigInt(clock().getTime() + dayMs) },
        scope: { $case: 'lineItemId', value: lineItemId },
      },
      { deadlineMs: 5_000 },
    );
    return Number(delivered);
  };
