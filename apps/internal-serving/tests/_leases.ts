import { newId } from '@longwave/ids';
import { transaction, type Pool, type Session } from '@longwave/postgres';
import { changeServingMode } from '../src/leases/serving-mode-table.ts';
import type { ServingMode } from '../src/leases/node-mode.ts';
import { registerNode } from '../src/leases/serving-node-table.ts';
import type { NewDecision } from '../src/decisions/stored-decision.ts';
import { decisionOf, filledAnswer } from './_decision.ts';

/** Asks for a mode and changes it where no live node counts goals, as the pacer does; answers whether it is so. */
export async function changeMode(pool: Pool, wanted: ServingMode): Promise<boolean> {
  await pool.query('update serving_mode set wanted = $1', [wanted]);
  return (await transaction(pool, changeServingMode)) === wanted;
}

export const newNode = (pool: Pool) => registerNode(pool, newId('op'), 'test');

export interface Grant {
  readonly granted: number;
  readonly ratePerS?: number;
  readonly burst?: number;
}

/** Grants as the pacer does: never below what is used. */
export async function grant(
  pool: Pool | Session,
  nodeEpoch: number,
  lineItemId: string,
  { granted, ratePerS = 0, burst = granted }: Grant,
): Promise<void> {
  await pool.query(
    `insert into quota_lease as l (line_item_id, node_epoch, workspace_id, granted, rate_per_s, burst) values ($1, $2, 'ws', $3, $4, $5)
     on conflict (node_epoch, line_item_id) do update
       set granted = greatest(l.used, excluded.granted), rate_per_s = $4, burst = $5, revised_at = now()`,
    [lineItemId, nodeEpoch, granted, ratePerS, burst],
  );
}

/** Closes a node's leases as the pacer does, in the order of their line items. */
export async function closeLeases(pool: Pool, nodeEpoch: number): Promise<void> {
  await pool.query(
    `with held as (select line_item_id from quota_lease where node_epoch = $1 order by line_item_id for update)
     update quota_lease set granted = used, closed = true, revised_at = now()
     where node_epoch = $1 and line_item_id in (select line_item_id from held)`,
    [nodeEpoch],
  );
}

export interface LeaseRow {
  readonly nodeEpoch: number;
  readonly granted: number;
  readonly used: number;
  readonly closed: boolean;
}

/** The leases of a line item, by node. */
export async function leasesOf(pool: Pool, lineItemId: string): Promise<readonly LeaseRow[]> {
  const { rows } = await pool.query<LeaseRow>(
    `select node_epoch::float8 as "nodeEpoch", granted::float8, used::float8, closed from quota_lease
     where line_item_id = $1 order by node_epoch`,
    [lineItemId],
  );
  return rows;
}

/** A decision that takes slots of goals from the leases of a node. */
export function leasedDecision(
  nodeEpoch: number,
  lineItemIds: readonly string[],
  given: Partial<NewDecision> = {},
): NewDecision {
  const decisionId = given.decisionId ?? newId('dec');
  return decisionOf({
    decisionId,
    answer: filledAnswer(decisionId, lineItemIds[0]),
    countedSlots: lineItemIds.map((lineItemId) => ({ lineItemId, attempt: 'a' })),
    ...{ mode: 'lease', nodeEpoch },
    ...given,
  });
}

/** Slots of a line item that leases paid for, and those that were counted before. */
export async function slotsGiven(pool: Pool, lineItemId: string): Promise<number> {
  const { rows } = await pool.query<{ slots: number }>(
    `select coalesce((select closed_used from line_pacing where line_item_id = $1), 0)::float8
          + coalesce((select sum(used) from quota_lease where line_item_id = $1 and not counted), 0)::float8 as slots`,
    [lineItemId],
  );
  return rows[0]!.slots;
}
