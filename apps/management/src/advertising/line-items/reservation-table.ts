import type { Pool } from '@longwave/postgres';

/** A line item that holds slots until a time. */
export interface EndingReservation {
  readonly workspaceId: string;
  readonly lineItemId: string;
  /** Of its goal; 0 where that is no number of servings. */
  readonly units: number;
  readonly expiresAt: string;
}

/** Reservations of all workspaces that end by a time, those that end first come first. */
export async function listEndingReservations(pool: Pool, until: Date): Promise<readonly EndingReservation[]> {
  const { rows } = await pool.query<EndingReservation>({
    name: 'list_ending_reservations',
    text: `select workspace_id as "workspaceId", id as "lineItemId", attributes ->> 'reserved_until' as "expiresAt",
             case when attributes #>> '{goal,unit}' in ('impressions', 'completes') then (attributes #>> '{goal,quantity}')::float8 else 0 end as units
           from resource
           where resource_type = 'line_items' and lifecycle_state = 'reserved' and instant_of(attributes ->> 'reserved_until') <= $1
           order by instant_of(attributes ->> 'reserved_until'), id`,
    values: [until],
  });
  return rows;
}
