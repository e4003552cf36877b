import { findResource, holdResource, listByIds, listLinked, type DecisionBasis } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { afterAmendment, type LineItem } from '../line-items/line-item.ts';
import { coverageOf } from '../serving-plans/plan-targeting.ts';
import { productDeviations, type PricedCreative } from './product-terms.ts';

const refuse = (detail: string) => new Problem('line_item_not_bookable', detail);

/** The creatives that a line item may serve: those of assignments that have not ended. */
async function assignedCreatives(tx: Transaction, workspaceId: string, lineItemId: string) {
  const assignments = await listLinked(tx, workspaceId, 'creative_assignments', 'line_item', lineItemId);
  const ids = assignments.filter((one) => one.lifecycle_state !== 'ended').map((one) => one.attributes.creative_id);
  return (await listByIds(tx, workspaceId, 'creatives', ids)).map(({ attributes }) => attributes);
}

/** A published product or rate card, which stays published until this transaction has committed; undefined for any other. */
async function holdPublished<T extends 'products' | 'rate_cards'>(
  tx: Transaction,
  workspaceId: string,
  type: T,
  id: string,
) {
  if ((await holdResource(tx, workspaceId, type, id)) !== 'published') return undefined;
  return findResource(tx, workspaceId, type, id);
}

/**
 * Checks a line item, as it is and as its waiting amendment leaves it, against its product and the rate card of that; answers both for the receipt, nothing without a product. Throws
 * `line_item_not_bookable` with everything in which it departs, and for a product or rate card that is not published.
 * @param added a creative that is assigned to a line item that was sold: its product and rate card may have been withdrawn since
 */
export async function requireProductTerms(
  tx: Transaction,
  workspaceId: string,
  lineItemId: string,
  lineItem: LineItem,
  added?: PricedCreative,
): Promise<readonly DecisionBasis[]> {
  const { product_id: productId } = lineItem;
  if (productId === undefined) return [];
  const find = added ? findResource : holdPublished;
  const product = await find(tx, workspaceId, 'products', productId);
  if (!product) throw refuse('The product of the line item is not published.');
  const rateCard = await find(tx, workspaceId, 'rate_cards', product.attributes.rate_card_id);
  if (!rateCard) throw refuse('The rate card of the product is not published.');
  const units = await listByIds(tx, workspaceId, 'inventory_units', product.attributes.inventory_unit_ids);
  const creatives = [...(await assignedCreatives(tx, workspaceId, lineItemId)), ...(added ? [added] : [])];
  const terms = { product: product.attributes, coverage: coverageOf(units), rateCard: rateCard.attributes };
  const later = afterAmendment(lineItem);
  const now = productDeviations(lineItem, creatives, terms);
  const errors = now.length > 0 || !later ? now : productDeviations(later, creatives, terms);
  if (errors.length > 0)
    throw new Problem('line_item_not_bookable', errors.map(({ detail }) => detail).join(' '), { errors });
  return [product, rateCard].map(({ resource_type: type, id, version }) => ({ type, id, version }));
}
