import type { Pool } from '@longwave/postgres';
import type { Seller } from '@longwave/rpc/forecast';
import { listSellingWorkspaces } from './booking-version-table.ts';
import { listOfferedFlights } from './offered-flight-table.ts';

/** Flights of one workspace that are told, and workspaces. */
const [maxFlights, maxSellers] = [20, 20];

/**
 * The workspaces that sell, and the flights about which they may ask next: those that offered something lately, then others that have ever
 * sold, whose next question may be about any flight.
 */
export async function listSellers(pool: Pool, now: Date): Promise<Seller[]> {
  const offers = Map.groupBy(await listOfferedFlights(pool, now), ({ workspaceId }) => workspaceId);
  const others = (await listSellingWorkspaces(pool)).filter((id) => !offers.has(id));
  return [...offers.keys(), ...others].slice(0, maxSellers).map((workspaceId) => ({
    workspaceId,
    flights: (offers.get(workspaceId) ?? []).slice(0, maxFlights).map(({ start, end }) => ({
      ...{ fromMs: BigInt(Date.parse(start)), toMs: BigInt(Date.parse(end)) },
    })),
  }));
}
