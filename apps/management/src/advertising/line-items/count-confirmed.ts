import type { RpcClient } from '@longwave/rpc';
import type { AudienceServiceService, CountAdsResponse } from '@longwave/rpc/audience';
import type { LineItem } from './line-item.ts';

/** What a goal counts: the billed event of its line item, or what players reported to be complete. */
export type GoalBasis = LineItem['counting_basis'] | 'completes';

/** What the goal of a line item counts. */
export const goalBasis = ({ goal, counting_basis }: Pick<LineItem, 'goal' | 'counting_basis'>): GoalBasis =>
  goal.unit === 'completes' ? 'completes' : counting_basis;

/**
 * Counts the servings of a line item that reached a basis, each once, in however many downloads it was delivered (docs/counting.md). Throws
 * `temporarily_unavailable` when the sink does not answer.
 */
export type CountConfirmed = (workspaceId: string, lineItemId: string, basis: GoalBasis) => Promise<number>;

/** A player reports each of these once for a serving. */
const reports = ({ clientEvents }: CountAdsResponse, event: 'start' | 'complete') =>
  clientEvents.find((one) => one.event === event)?.count ?? 0n;

const countOf: Readonly<Record<GoalBasis, (counts: CountAdsResponse) => bigint>> = {
  reserved: ({ decided }) => decided,
  served_bytes: ({ served }) => served,
  ad_delivered: ({ confirmed }) => confirmed,
  client_event: (counts) => reports(counts, 'start'),
  completes: (counts) => reports(counts, 'complete'),
};

const dayMs = 86_400_000;

/** Asks the sink what a line item has reached. */
export const createCountConfirmed =
  (countAds: RpcClient<typeof AudienceServiceService>['countAds'], clock: () => Date): CountConfirmed =>
  async (workspaceId, lineItemId, basis) => {
    const counts = await countAds(
      {
        workspaceId,
        // From the epoch to tomorrow: every download, those that begin now included.
        range: { fromMs: 0n, toMs: BigInt(clock().getTime() + dayMs) },
        scope: { $case: 'lineItemId', value: lineItemId },
      },
      { deadlineMs: 5_000 },
    );
    return Number(countOf[basis](counts));
  };
