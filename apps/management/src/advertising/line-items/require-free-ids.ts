import { isId } from '@longwave/ids';
import type { Transaction } from '@longwave/postgres';
import { listOnceBooked } from '../../commerce/reconciliations/booked-version-table.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import { listHolders, listOwnIds, lockExternalIds } from './external-id-table.ts';
import type { LineItem } from './line-item.ts';

const path = '/changes/external_ids';
/** States in which a line item that was never booked is no part of a reconciliation any more. */
const ended: readonly string[] = ['cancelled', 'archived'];

/**
 * Throws `validation_failed` for external ids that would lead the counts of a buyer to another line item: ids of resources of ours, and those
 * that another line item has in the same source. No other command of the workspace sets any until this transaction ends.
 */
export async function requireFreeIds(
  tx: Transaction,
  about: { readonly workspaceId: string; readonly lineItemId: string },
  ids: LineItem['external_ids'],
): Promise<void> {
  if (ids === undefined || ids.length === 0) return;
  await lockExternalIds(tx, about.workspaceId);
  const alike = ids.flatMap(({ id }) => (isId(id) ? [id] : []));
  const [own] = alike.length === 0 ? [] : await listOwnIds(tx, about.workspaceId, alike);
  if (own !== undefined)
    refuseField(path, 'own_id', `${own} is an id of this workspace: rows that have it are found without.`);
  const holders = await listHolders(tx, { ...about, ids });
  const doubtful = holders.filter(({ state }) => ended.includes(state)).map(({ lineItemId }) => lineItemId);
  const booked = new Set(doubtful.length === 0 ? [] : await listOnceBooked(tx, doubtful));
  const holder = holders.find(({ state, lineItemId }) => !ended.includes(state) || booked.has(lineItemId));
  if (holder)
    refuseField(
      path,
      'id_taken',
      `${holder.lineItemId} has the id ${holder.id} in ${holder.source}. Take it from there first, or name another one.`,
    );
}
