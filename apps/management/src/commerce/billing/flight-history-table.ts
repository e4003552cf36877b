import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import type { FlightVersion } from './rate-terms.ts';

type Row = Columns<'revision', 'resource_id' | 'lifecycle_state' | 'created_at'> &
  Pick<FlightVersion, 'rate' | 'goal' | 'counting_basis' | 'amendment'>;

/** Every version of line items up to a time, in their order, by line item. */
export async function listFlightVersions(
  db: Pool | Transaction,
  lineItemIds: readonly string[],
  until: Date,
): Promise<ReadonlyMap<string, readonly FlightVersion[]>> {
  const { rows } = await db.query<Row>({
    name: 'list_flight_versions',
    text: `select resource_id, lifecycle_state, created_at, attributes -> 'rate' as rate, attributes -> 'goal' as goal,
             attributes ->> 'counting_basis' as counting_basis, attributes -> 'amendment' as amendment
           from revision where resource_id = any($1) and created_at <= $2 order by resource_id, version`,
    values: [lineItemIds, until],
  });
  const versions = rows.map(({ resource_id, lifecycle_state: state, created_at: at, amendment, ...terms }) => ({
    ...{ id: resource_id, state, at, ...terms },
    amendment: amendment ?? undefined,
  }));
  return Map.groupBy(versions, ({ id }) => id);
}

/** How often the price of a line item, or the unit of its goal, has changed. */
export async function countChargeChanges(tx: Transaction, lineItemId: string): Promise<number> {
  const { rows } = await tx.query<{ readonly changes: number }>({
    name: 'count_charge_changes',
    text: `select count(*)::int as changes from (
             select jsonb_build_array(attributes -> 'rate', attributes #> '{goal,unit}') as charge,
               lag(jsonb_build_array(attributes -> 'rate', attributes #> '{goal,unit}')) over (order by version) as before
             from revision where resource_id = $1) each
           where before is not null and charge <> before`,
    values: [lineItemId],
  });
  return rows[0]!.changes;
}
