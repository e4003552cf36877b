import type { Pool } from '@longwave/postgres';
import type { Seller } from '@longwave/rpc/forecast';
import { listLastSellers } from './booking-version-table.ts';
import { listOfferedFlights } from './offered-flight-table.ts';

/** Flights of one workspace that are told, and workspaces. */
const [maxFlights, maxSellers] = [20, 20];

/**
 * The workspaces that sell, and the flights about which they may ask next: those that offered something lately, then others that have ever
 * sold, whose next question may be about any flight. Of both the last ones come first.
 */
export async function listSellers(pool: Pool, now: Date): Promise<Seller[]> {
  const flights = await listOfferedFlights(pool, now, { maxFlights, maxWorkspaces: maxSellers });
  const offers = Map.groupBy(flights, ({ workspaceId }) => workspaceId);
  const others = await listLastSellers(pool, { but: [...offers.keys()], most: maxSellers });
  return [...offers.keys(), ...others].slice(0, maxSellers).map((workspaceId) => ({
    workspaceId,
    flights: (offers.get(workspaceId) ?? []).map(({ start, end }) => ({
      ...{ fromMs: BigInt(Date.parse(start)), toMs: BigInt(Date.parse(end)) },
    })),
  }));
}
