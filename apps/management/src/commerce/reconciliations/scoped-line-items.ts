import { listByIds, listLinked, type ResourceRow } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import { unsoldStates } from '../../advertising/line-items/line-item.ts';
import { listOnceBooked } from './booked-version-table.ts';
import type { Reconciliation } from './reconciliation.ts';

/** Line items of one reconciliation at most; the ledger is asked for so many at once. */
export const maxLineItems = 1000;

/** States that a line item may come to without having been booked. */
const withoutBooking: readonly string[] = ['cancelled', 'archived'];

/** The line items that a reconciliation is about: those that were sold, which a cancelled draft never was. */
export async function listScoped(
  db: Pool | Transaction,
  workspaceId: string,
  { campaign_ids: campaigns, line_item_ids: lineItems = [] }: Reconciliation['scope'],
): Promise<readonly ResourceRow<'line_items'>[]> {
  const named = await listByIds(db, workspaceId, 'line_items', lineItems);
  for (const id of campaigns ?? []) named.push(...(await listLinked(db, workspaceId, 'line_items', 'campaign', id)));
  const candidates = named.filter(({ lifecycle_state: state }) => !(unsoldStates as readonly string[]).includes(state));
  const doubtful = candidates.filter(({ lifecycle_state: state }) => withoutBooking.includes(state));
  const booked = new Set(
    doubtful.length === 0
      ? []
      : await listOnceBooked(
          db,
          doubtful.map(({ id }) => id),
        ),
  );
  return candidates.filter(({ id, lifecycle_state: state }) => !withoutBooking.includes(state) || booked.has(id));
}

/** The campaigns of line items. */
export async function listCampaigns(
  pool: Pool,
  workspaceId: string,
  lineItems: readonly ResourceRow<'line_items'>[],
): Promise<readonly ResourceRow<'campaigns'>[]> {
  const ids = new Set(lineItems.map(({ attributes }) => attributes.campaign_id));
  return listByIds(pool, workspaceId, 'campaigns', [...ids]);
}

/** The creatives that line items have served: those that were ever assigned to them. */
export async function listServedCreatives(
  pool: Pool,
  workspaceId: string,
  lineItems: readonly ResourceRow<'line_items'>[],
): Promise<readonly ResourceRow<'creatives'>[]> {
  const ids = new Set<string>();
  for (const { id } of lineItems)
    for (const { attributes } of await listLinked(pool, workspaceId, 'creative_assignments', 'line_item', id))
      ids.add(attributes.creative_id);
  return listByIds(pool, workspaceId, 'creatives', [...ids]);
}
