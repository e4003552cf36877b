import type { Pool } from '@longwave/postgres';

/** What was changed longer ago is hardly sold at this moment. */
const offeredMs = 14 * 86_400_000;
/** Flights of all workspaces together. */
const maxRows = 2_000;

/** A flight of a line item that may be sold. */
export interface OfferedFlight {
  readonly workspaceId: string;
  readonly start: string;
  readonly end: string;
}

/** Flights of line items that may be promised something and are not sold, those that were changed last first. */
export async function listOfferedFlights(pool: Pool, now: Date): Promise<readonly OfferedFlight[]> {
  const { rows } = await pool.query<OfferedFlight>({
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
