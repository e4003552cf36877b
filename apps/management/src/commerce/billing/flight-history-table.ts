import type { Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import type { FlightVersion } from './rate-terms.ts';

type Row = Columns<'revision', 'resource_id' | 'lifecycle_state' | 'created_at'> &
  Pick<FlightVersion, 'rate' | 'amendment'>;

/** Every version of line items up to a time, in their order, by line item. */
export async function listFlightVersions(
  tx: Transaction,
  lineItemIds: readonly string[],
  until: Date,
): Promise<ReadonlyMap<string, readonly FlightVersion[]>> {
  const { rows } = await tx.query<Row>({
    name: 'list_flight_versions',
    text: `select resource_id, lifecycle_state, created_at, attributes -> 'rate' as rate, attributes -> 'amendment' as amendment
           from revision where resource_id = any($1) and created_at <= $2 order by resource_id, version`,
    values: [lineItemIds, until],
  });
  const versions = rows.map(({ resource_id, lifecycle_state: state, created_at: at, rate, amendment }) => ({
    ...{ id: resource_id, state, at, rate },
    amendment: amendment ?? undefined,
  }));
  return Map.groupBy(versions, ({ id }) => id);
}
