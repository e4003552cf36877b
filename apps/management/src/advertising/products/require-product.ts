import { findResource, listByIds, listLinked, type DecisionBasis } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { LineItem } from '../line-items/line-item.ts';
import { coverageOf } from '../serving-plans/plan-targeting.ts';
import { productDeviations } from './product-terms.ts';

const refuse = (detail: string) => new Problem('line_item_not_bookable', detail);

/** The creatives that a line item may serve: those of assignments that have not ended. */
async function assignedCreatives(tx: Transaction, workspaceId: string, lineItemId: string) {
  const assignments = await listLinked(tx, workspaceId, 'creative_assignments', 'line_item', lineItemId);
  const ids = assignments.filter((one) => one.lifecycle_state !== 'ended').map((one) => one.attributes.creative_id);
  return (await listByIds(tx, workspaceId, 'creatives', ids)).map(({ attributes }) => attributes);
}

/**
 * Checks a line item against its product and the rate card of that; answers both for the receipt, nothing without a product. Throws
 * `line_item_not_bookable` with everything in which it departs, and for a product or rate card that is not published.
 */
export async function requireProductTerms(
  tx: Transaction,
  workspaceId: string,
  lineItemId: string,
  lineItem: LineItem,
): Promise<readonly DecisionBasis[]> {
  const { product_id: productId } = lineItem;
  if (productId === undefined) return [];
  const product = await findResource(tx, workspaceId, 'products', productId);
  if (product?.lifecycle_state !== 'published') throw refuse('The product of the line item is not published.');
  const rateCard = await findResource(tx, workspaceId, 'rate_cards', product.attributes.rate_card_id);
  if (rateCard?.lifecycle_state !== 'published') throw refuse('The rate card of the product is not published.');
  const units = await listByIds(tx, workspaceId, 'inventory_units', product.attributes.inventory_unit_ids);
  const creatives = await assignedCreatives(tx, workspaceId, lineItemId);
  const terms = { product: product.attributes, coverage: coverageOf(units), rateCard: rateCard.attributes };
  const errors = productDeviations(lineItem, creatives, terms);
  if (errors.length > 0)
    throw new Problem('line_item_not_bookable', errors.map(({ detail }) => detail).join(' '), { errors });
  return [product, rateCard].map(({ resource_type: type, id, version }) => ({ type, id, version }));
}
