import type { RpcClient } from '@longwave/rpc';
import type { BookingServiceService } from '@longwave/rpc/forecast';
import type { Seller } from '../compute/make-ahead.ts';

const deadlineMs = 10_000;

/** Asks management who sells, the likeliest to ask next first. Rejects when it is away. */
export const createListSellers =
  (client: Pick<RpcClient<typeof BookingServiceService>, 'listSellers'>): (() => Promise<readonly Seller[]>) =>
  async () => {
    const { sellers } = await client.listSellers({}, { deadlineMs });
    return sellers.map(({ workspaceId, flights }) => ({
      workspaceId,
      flights: flights.map(({ fromMs, toMs }) => ({ fromMs: Number(fromMs), toMs: Number(toMs) })),
    }));
  };
