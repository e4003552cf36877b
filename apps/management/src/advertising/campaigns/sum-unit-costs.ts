import type { RpcClient } from '@longwave/rpc';
import type { PacingServiceService } from '@longwave/rpc/serving';

/**
 * What the units of these line items of a workspace cost by now, in millionths: what is decided and may still be confirmed included, each at
 * the price of its decision, as the pacer knows it to some seconds. Throws `temporarily_unavailable` when nobody answers.
 */
export type SumUnitCosts = (workspaceId: string, lineItemIds: readonly string[]) => Promise<bigint>;

const answerMs = 5_000;
const maxPerRequest = 1_000;

/** Asks internal-serving, where the pacer is. */
export const createSumUnitCosts =
  (serving: Pick<RpcClient<typeof PacingServiceService>, 'readPacing'>): SumUnitCosts =>
  async (workspaceId, lineItemIds) => {
    let sum = 0n;
    for (let from = 0; from < lineItemIds.length; from += maxPerRequest) {
      const request = { workspaceId, lineItemIds: lineItemIds.slice(from, from + maxPerRequest) };
      const { lineItems } = await serving.readPacing(request, { deadlineMs: answerMs });
      for (const { committedMicros } of lineItems) sum += BigInt(Math.ceil(committedMicros));
    }
    return sum;
  };
