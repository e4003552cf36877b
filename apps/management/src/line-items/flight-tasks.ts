import type { Pool } from '@longwave/postgres';
import type { Due, DueTask } from '../clock/due-tasks.ts';
import type { CountDelivered } from './count-delivered.ts';

type FlightCommand =
  'line_item.start_flight' | 'line_item.end_flight' | 'line_item.expire_reservation' | 'line_item.apply_amendment';

/** A task about line items of one state, whose time is found by an index of its own. */
const lineItemTask = (name: string, command: FlightCommand, text: string): DueTask<FlightCommand> => ({
  name,
  findDue: async (pool, now, limit) =>
    (await pool.query<Due>({ name: `find_due_${name.replaceAll('-', '_')}`, text, values: [now, limit] })).rows,
  command,
  changes: () => ({}),
});

const startFlight = lineItemTask(
  'start-flight',
  'line_item.start_flight',
  `select li.id, li.workspace_id, li.attributes #>> '{window,start}' || ':' || li.version as due_at
   from resource li join link l on l.from_id = li.id and l.name = 'campaign'
     join resource c on c.id = l.to_id and c.lifecycle_state = 'active'
   where li.resource_type = 'line_items' and li.lifecycle_state = 'booked' and instant_of(li.attributes #>> '{window,start}') <= $1
     and exists (select from resource p join serving_plan_content t on t.serving_plan_id = p.id
                 where p.workspace_id = li.workspace_id and p.resource_type = 'serving_plans' and p.lifecycle_state = 'published'
                   and instant_of(p.attributes ->> 'effective_from') <= $1 and li.id = any(t.line_item_ids))
   order by instant_of(li.attributes #>> '{window,start}') limit $2`,
);

const endFlight = lineItemTask(
  'end-flight',
  'line_item.end_flight',
  `select id, workspace_id, attributes #>> '{window,end}' || ':' || version as due_at from resource
   where resource_type = 'line_items' and lifecycle_state = 'delivering' and instant_of(attributes #>> '{window,end}') <= $1
   order by instant_of(attributes #>> '{window,end}') limit $2`,
);

/** What was extended lasts as long as its campaign. */
const endExtension = lineItemTask(
  'end-extension',
  'line_item.end_flight',
  `select li.id, li.workspace_id, c.attributes #>> '{window,end}' || ':' || li.version as due_at
   from resource li join link l on l.from_id = li.id and l.name = 'campaign' join resource c on c.id = l.to_id
   where li.resource_type = 'line_items' and li.lifecycle_state = 'delivery_extended'
     and instant_of(c.attributes #>> '{window,end}') <= $1
   order by li.id limit $2`,
);

const expireReservation = lineItemTask(
  'expire-reservation',
  'line_item.expire_reservation',
  `select id, workspace_id, attributes ->> 'reserved_until' as due_at from resource
   where resource_type = 'line_items' and lifecycle_state = 'reserved' and instant_of(attributes ->> 'reserved_until') <= $1
   order by instant_of(attributes ->> 'reserved_until') limit $2`,
);

const applyAmendment = lineItemTask(
  'apply-amendment',
  'line_item.apply_amendment',
  `select id, workspace_id, attributes #>> '{amendment,effective_at}' || ':' || version as due_at from resource
   where resource_type = 'line_items' and lifecycle_state in ('booked', 'delivering', 'delivery_extended', 'paused')
     and instant_of(attributes #>> '{amendment,effective_at}') <= $1
   order by instant_of(attributes #>> '{amendment,effective_at}') limit $2`,
);

/** What the clock does with line items, whatever was delivered. */
export const flightTasks: readonly DueTask[] = [
  startFlight,
  endFlight,
  endExtension,
  expireReservation,
  applyAmendment,
];

interface Flight extends Due {
  readonly quantity: number;
}

/** Asks how many flights at a look, and each one again after how long. */
const flightsMax = 50;
const askAgainMs = 15_000;

const listCountedFlights = async (pool: Pool, after: string): Promise<readonly Flight[]> =>
  (
    await pool.query<Flight>({
      name: 'list_counted_flights',
      text: `select id, workspace_id, (attributes #>> '{goal,quantity}')::float8 as quantity,
               attributes #>> '{goal,quantity}' || ':' || version as due_at
             from resource
             where resource_type = 'line_items' and lifecycle_state in ('delivering', 'delivery_extended') and id > $1
               and attributes #>> '{goal,unit}' in ('impressions', 'completes')
             order by id limit $2`,
      values: [after, flightsMax],
    })
  ).rows;

/**
 * Completes flights whose goal is reached, by the ads that the sink has counted. Every flight is asked about every 15 seconds, some at
 * a time: decisions stop at the goal by themselves, so nothing is delivered meanwhile.
 */
export function reachGoals(countDelivered: CountDelivered): DueTask<'line_item.complete'> {
  let after = '';
  let restUntil = 0;
  const delivered = new Map<string, number>();
  return {
    name: 'reach-goal',
    findDue: async (pool, now) => {
      if (now.getTime() < restUntil) return [];
      const flights = await listCountedFlights(pool, after);
      after = flights.length < flightsMax ? '' : flights.at(-1)!.id;
      if (after === '') restUntil = now.getTime() + askAgainMs;
      const reached: Due[] = [];
      delivered.clear();
      for (const { quantity, ...due } of flights) {
        const count = await countDelivered(due.workspace_id, due.id).catch((error: unknown) => {
          restUntil = now.getTime() + askAgainMs;
          throw error;
        });
        if (count < quantity) continue;
        delivered.set(due.id, count);
        // Another clock may have counted more: it then asks under a key of its own, and finds the flight completed.
        reached.push({ ...due, due_at: `${due.due_at}:${count}` });
      }
      return reached;
    },
    command: 'line_item.complete',
    changes: ({ id }) => ({ delivered: delivered.get(id)! }),
  };
}
