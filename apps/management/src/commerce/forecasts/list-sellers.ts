import type { Pool } from '@longwave/postgres';
import type { Seller } from '@longwave/rpc/forecast';
import { listSellingWorkspaces } from './booking-version-table.ts';

/** What was changed longer ago is hardly sold at this moment. */
const offeredMs = 14 * 86_400_000;
/** Flights of all workspaces that are looked at, of one that are told, and workspaces. */
const [maxRows, maxFlights, maxSellers] = [2_000, 20, 20];

interface Offer {
  readonly workspaceId: string;
  readonly start: string;
  readonly end: string;
}

/** Flights of line items that may be promised something and are not sold, those that were changed last first. */
async function listOffers(pool: Pool, now: Date): Promise<readonly Offer[]> {
  const { rows } = await pool.query<Offer>({
    name: 'list_offered_flights',
    text: `select workspace_id as "workspaceId", attributes #>> '{window,start}' as start, attributes #>> '{window,end}' as end
           from resource
           where resource_type = 'line_items' and lifecycle_state in ('draft', 'pending_review', 'approved') and updated_at > $1
             and attributes ->> 'type' in ('guaranteed', 'sponsorship', 'exclusive')
             and instant_of(attributes #>> '{window,end}') > $2
           group by 1, 2, 3 order by max(updated_at) desc limit $3`,
    values: [new Date(now.getTime() - offeredMs), now, maxRows],
  });
  return rows;
}

/**
 * The workspaces that sell, and the flights about which they may ask next: those that offered something lately, then others that have ever
 * sold, whose next question may be about any flight.
 */
export async function listSellers(pool: Pool, now: Date): Promise<Seller[]> {
  const offers = Map.groupBy(await listOffers(pool, now), ({ workspaceId }) => workspaceId);
  const others = (await listSellingWorkspaces(pool)).filter((id) => !offers.has(id));
  return [...offers.keys(), ...others].slice(0, maxSellers).map((workspaceId) => ({
    workspaceId,
    flights: (offers.get(workspaceId) ?? []).slice(0, maxFlights).map(({ start, end }) => ({
      ...{ fromMs: BigInt(Date.parse(start)), toMs: BigInt(Date.parse(end)) },
    })),
  }));
}
