import type { Attributes, productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireCurrency } from '../../workspace/require-currency.ts';
import { requireResources } from '../../workspace/require-resources.ts';

type ProductRules = Pick<
  Rules<typeof productCatalog>,
  'product.create' | 'product.revise' | 'product.publish' | 'rate_card.create' | 'rate_card.revise'
>;
type Product = Attributes<'products'>;

/** Throws unless the inventory is there and flights may have some length. */
async function checkProduct(tx: Transaction, workspaceId: string, product: Product): Promise<Product> {
  const { min_flight_days: min = 0, max_flight_days: max = Infinity } = product;
  if (min > max) refuseField('/changes/max_flight_days', 'below_minimum', 'The longest flight is below the shortest.');
  const ids = [...new Set(product.inventory_unit_ids)].sort();
  await requireResources(tx, { workspaceId, type: 'inventory_units', ids, path: '/changes/inventory_unit_ids' });
  return { ...product, inventory_unit_ids: ids, positions: [...new Set(product.positions)].sort() };
}

/** Rules of products and rate cards. */
export const productRules: ProductRules = {
  'product.create': async ({ tx, workspaceId, changes }) => ({
    attributes: await checkProduct(tx, workspaceId, changes),
  }),

  'product.revise': async ({ tx, workspaceId, current, changes }) => ({
    attributes: await checkProduct(tx, workspaceId, { ...current, ...changes }),
  }),

  'product.publish': async ({ tx, workspaceId, current }) => {
    const path = '/attributes/rate_card_id';
    const ids = [current.rate_card_id];
    await requireResources(tx, { workspaceId, type: 'rate_cards', ids, path, unless: ['draft', 'withdrawn'] });
    return { attributes: current };
  },

  'rate_card.create': async ({ tx, workspaceId, changes }) => {
    await requireCurrency(tx, workspaceId, changes, '/changes');
    return { attributes: changes };
  },

  'rate_card.revise': async ({ tx, workspaceId, current, changes }) => {
    const attributes = { ...current, ...changes };
    await requireCurrency(tx, workspaceId, attributes, '/changes');
    return { attributes };
  },
};
