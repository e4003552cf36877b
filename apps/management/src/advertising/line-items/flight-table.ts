import type { Due } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { GoalBasis } from './count-confirmed.ts';

/** Booked line items whose window has begun, of active campaigns, that a published plan in effect contains. */
export async function listDueStarts(pool: Pool, now: Date, limit: number): Promise<readonly Due[]> {
  const { rows } = await pool.query<Due>({
    name: 'list_due_starts',
    text: `select li.id, li.workspace_id, li.attributes #>> '{window,start}' || ':' || li.version as occurrence
           from resource li join link l on l.from_id = li.id and l.name = 'campaign'
             join resource c on c.id = l.to_id and c.lifecycle_state = 'active'
           where li.resource_type = 'line_items' and li.lifecycle_state = 'booked'
             and instant_of(li.attributes #>> '{window,start}') <= $1
             and exists (select from resource p join serving_plan_content t on t.serving_plan_id = p.id
                         where p.workspace_id = li.workspace_id and p.resource_type = 'serving_plans'
                           and p.lifecycle_state = 'published'
                           and instant_of(p.attributes ->> 'effective_from') <= $1 and li.id = any(t.line_item_ids))
           order by instant_of(li.attributes #>> '{window,start}') limit $2`,
    values: [now, limit],
  });
  return rows;
}

/** Extended line items whose campaign's window has ended. */
export async function listEndedExtensions(pool: Pool, now: Date, limit: number): Promise<readonly Due[]> {
  const { rows } = await pool.query<Due>({
    name: 'list_ended_extensions',
    text: `select li.id, li.workspace_id, c.attributes #>> '{window,end}' || ':' || li.version as occurrence
           from resource li join link l on l.from_id = li.id and l.name = 'campaign' join resource c on c.id = l.to_id
           where li.resource_type = 'line_items' and li.lifecycle_state = 'delivery_extended'
             and instant_of(c.attributes #>> '{window,end}') <= $1
           order by li.id limit $2`,
    values: [now, limit],
  });
  return rows;
}

/** A flight whose goal is a number of servings, with what it counts. */
export type Flight = Due & { readonly quantity: number; readonly basis: GoalBasis };

/** Flights whose goal is counted by servings, in the order of their ids, after `after`. */
export async function listCountedFlights(pool: Pool, after: string, limit: number): Promise<readonly Flight[]> {
  const { rows } = await pool.query<Flight>({
    name: 'list_counted_flights',
    text: `select id, workspace_id, (attributes #>> '{goal,quantity}')::float8 as quantity,
             case attributes #>> '{goal,unit}' when 'completes' then 'completes' else coalesce(attributes ->> 'counting_basis', 'ad_delivered') end as basis,
             attributes #>> '{goal,quantity}' || ':' || version as occurrence
           from resource
           where resource_type = 'line_items' and lifecycle_state in ('delivering', 'delivery_extended') and id > $1
             and attributes #>> '{goal,unit}' in ('impressions', 'completes')
           order by id limit $2`,
    values: [after, limit],
  });
  return rows;
}
