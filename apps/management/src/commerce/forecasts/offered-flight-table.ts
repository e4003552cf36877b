import type { Pool } from '@longwave/postgres';

/** What was changed longer ago is hardly sold at this moment. */
const offeredMs = 14 * 86_400_000;
/** A flight of a line item that may be sold. */
export interface OfferedFlight {
  readonly workspaceId: string;
  readonly start: string;
  readonly end: string;
}

/**
 * Flights of line items that may be promised something and are not sold: of the workspaces that changed one last, the last first, and of each
 * those that were changed last, in this order.
 * @param maxFlights of one workspace
 */
export async function listOfferedFlights(
  pool: Pool,
  now: Date,
  { maxFlights, maxWorkspaces }: { readonly maxFlights: number; readonly maxWorkspaces: number },
): Promise<readonly OfferedFlight[]> {
  const { rows } = await pool.query<OfferedFlight>({
    name: 'list_offered_flights',
    text: `with flight as (
             select workspace_id, attributes #>> '{window,start}' as "start", attributes #>> '{window,end}' as "end",
               row_number() over (partition by workspace_id order by max(updated_at) desc) as place,
               max(max(updated_at)) over (partition by workspace_id) as offered_at
             from resource
             where resource_type = 'line_items' and lifecycle_state in ('draft', 'pending_review', 'approved') and updated_at > $1
               and attributes ->> 'type' in ('guaranteed', 'sponsorship', 'exclusive')
               and instant_of(attributes #>> '{window,end}') > $2
             group by 1, 2, 3
           )
           select workspace_id as "workspaceId", "start", "end" from flight
           where place <= $3 order by offered_at desc, workspace_id, place limit $4`,
    values: [new Date(now.getTime() - offeredMs), now, maxFlights, maxFlights * maxWorkspaces],
  });
  return rows;
}
