import type { RpcClient } from '@longwave/rpc';
import type { AudienceServiceService } from '@longwave/rpc/audience';

/** Ads of a line item that were delivered so far (docs/counting.md), in all its life. Throws `temporarily_unavailable` when nobody answers. */
export type CountDelivered = (workspaceId: string, lineItemId: string) => Promise<number>;

const dayMs = 86_400_000;

/** Asks the sink for the ads that a line item has delivered. */
export const createCountDelivered =
  (countAds: RpcClient<typeof AudienceServiceService>['countAds'], clock: () => Date): CountDelivered =>
  async (workspaceId, lineItemId) => {
    const { delivered } = await countAds(
      {
        workspaceId,
        // Nothing was counted before the epoch, and the download that a listener just began is counted from its own time.
        range: { fromMs: 0n, toMs: BigInt(clock().getTime() + dayMs) },
        scope: { $case: 'lineItemId', value: lineItemId },
      },
      { deadlineMs: 5_000 },
    );
    return Number(delivered);
  };
