import type { ResourceRow } from '@longwave/command-pipeline';
import { daysOf } from '@longwave/podcast-analytics/zoned-days';
import type { Pool } from '@longwave/postgres';
import { listFlightVersions } from '../billing/flight-history-table.ts';
import { basisOf, flightTerms } from '../billing/rate-terms.ts';
import type { Reconciliation } from './reconciliation.ts';

/** What line items are charged for in a period. */
interface ChargedBases {
  /** By line item: what the last price of the period counts. An amendment of later, also of the goal's unit, changes nothing of it. */
  readonly bases: ReadonlyMap<string, string>;
  /** Line items that were charged for something else on a whole day of the period, each with the time from which it counts the last. */
  readonly changed: readonly { readonly id: string; readonly at: string }[];
}

/** @param about.now versions up to this time */
export async function listChargedBases(
  pool: Pool,
  lineItems: readonly ResourceRow<'line_items'>[],
  { period, time_zone: timeZone, now }: Pick<Reconciliation, 'period' | 'time_zone'> & { readonly now: Date },
): Promise<ChargedBases> {
  const ids = lineItems.map(({ id }) => id);
  const versions = await listFlightVersions(pool, ids, now);
  const { dayAt } = daysOf(timeZone);
  const [startMs, endMs] = [Date.parse(period.start), Date.parse(period.end)];
  const bases = new Map<string, string>();
  const changed: { id: string; at: string }[] = [];
  for (const { id, attributes } of lineItems) {
    const terms = flightTerms(attributes, versions.get(id) ?? []);
    const rates = terms?.rates ?? [];
    const inForce = rates.filter(({ from }) => Date.parse(from) < endMs);
    const basis = (inForce.at(-1) ?? rates[0])?.basis ?? basisOf(attributes);
    bases.set(id, basis);
    const place = inForce.findLastIndex((rate) => rate.basis !== basis);
    if (!terms || place < 0) continue;
    const fromMs = Math.max(startMs, Date.parse(place === 0 ? terms.began_at : inForce[place]!.from));
    const at = inForce[place + 1]!.from;
    // Of a day that has both, an adjustment finds the price that counts its units.
    if (dayAt(fromMs - 1) + 1 < dayAt(Date.parse(at))) changed.push({ id, at });
  }
  return { bases, changed };
}
