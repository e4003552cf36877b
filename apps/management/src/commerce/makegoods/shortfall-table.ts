import { isResource, type Reactions } from '@longwave/command-catalog';
import type { Due } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { Pool, Transaction } from '@longwave/postgres';
import { canFallShort } from './makegood.ts';

/** Facts of an ad that was served at the very end may come for so long (docs/counting.md). */
const settleMs = 7 * 86_400_000;

/** Remembers a line item that has ended, if it can fall short. The first time stays. */
async function rememberEnded(
  pool: Pool,
  { after, workspace_id: workspaceId, occurred_at: at }: DomainEvent,
): Promise<void> {
  if (!isResource(after, 'line_items') || !['completed', 'stopped'].includes(after.lifecycle_state)) return;
  if (!canFallShort(after.attributes)) return;
  await pool.query({
    name: 'insert_shortfall_check',
    text: `insert into shortfall_check (line_item_id, workspace_id, due_at) values ($1, $2, $3) on conflict (line_item_id) do nothing`,
    values: [after.id, workspaceId, new Date(Date.parse(at) + settleMs)],
  });
}

/** Line items that end are compared with their goals later. */
export const shortfallReactions = (pool: Pool): Reactions<Promise<void>> => ({
  'line_item.completed': (event) => rememberEnded(pool, event),
  'line_item.flight_ended': (event) => rememberEnded(pool, event),
  'line_item.stopped': (event) => rememberEnded(pool, event),
});

/** Line items whose comparison is due, the oldest first. */
export async function listDueChecks(pool: Pool, now: Date, limit: number): Promise<readonly Due[]> {
  const { rows } = await pool.query<Due>({
    name: 'list_due_shortfall_checks',
    text: `select line_item_id as id, workspace_id, (extract(epoch from due_at) * 1000)::bigint::text as occurrence from shortfall_check where due_at <= $1
           order by due_at, line_item_id limit $2`,
    values: [now, limit],
  });
  return rows;
}

/** Forgets a line item that was compared. */
export async function removeCheck(db: Pool | Transaction, lineItemId: string): Promise<void> {
  await db.query({
    name: 'remove_shortfall_check',
    text: 'delete from shortfall_check where line_item_id = $1',
    values: [lineItemId],
  });
}

/** Makes commands about the makegoods of a line item wait for each other until the transaction ends. */
export async function lockMakegoods(tx: Transaction, lineItemId: string): Promise<void> {
  await tx.query({
    name: 'lock_makegoods',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 6))',
    values: [lineItemId],
  });
}

/** A scheduled makegood with the line item that makes good. */
export type ScheduledMakegood = Due & {
  readonly line_item_id: string;
  readonly units: number;
  /** Whether its line item was cancelled, or its window ended so long ago that late facts are counted. */
  readonly is_over: boolean;
};

/** Scheduled makegoods whose line item is there, in the order of their ids, after `after`. */
export async function listScheduled(
  pool: Pool,
  now: Date,
  after: string,
  limit: number,
): Promise<readonly ScheduledMakegood[]> {
  const { rows } = await pool.query<ScheduledMakegood>({
    name: 'list_scheduled_makegoods',
    text: `select m.id, m.workspace_id, m.version::text as occurrence, li.id as line_item_id,
             (m.attributes ->> 'units')::float8 as units,
             li.lifecycle_state in ('cancelled', 'archived')
               or (li.lifecycle_state not in ('delivering', 'delivery_extended')
                   and instant_of(li.attributes #>> '{window,end}') <= $1) as is_over
           from resource m join resource li on li.id = m.attributes ->> 'line_item_id'
           where m.resource_type = 'makegoods' and m.lifecycle_state = 'scheduled' and m.id > $2
           order by m.id limit $3`,
    values: [new Date(now.getTime() - settleMs), after, limit],
  });
  return rows;
}
