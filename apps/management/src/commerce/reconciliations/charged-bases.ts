import type { ResourceRow } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { listFlightVersions } from '../billing/flight-history-table.ts';
import { basisOf, flightTerms } from '../billing/rate-terms.ts';

/**
 * What line items are charged for before a time, by line item: what the last price of then counts. An amendment of later, also of the goal's
 * unit, changes nothing of it.
 * @param now versions up to this time
 */
export async function listChargedBases(
  pool: Pool,
  lineItems: readonly ResourceRow<'line_items'>[],
  { before, now }: { readonly before: Date; readonly now: Date },
): Promise<ReadonlyMap<string, string>> {
  const versions = await listFlightVersions(
    pool,
    lineItems.map(({ id }) => id),
    now,
  );
  return new Map(
    lineItems.map(({ id, attributes }) => {
      const rates = flightTerms(attributes, versions.get(id) ?? [])?.rates ?? [];
      const rate = rates.findLast(({ from }) => Date.parse(from) < before.getTime()) ?? rates[0];
      return [id, rate?.basis ?? basisOf(attributes)];
    }),
  );
}
