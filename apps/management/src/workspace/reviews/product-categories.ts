import { findResource, type ReviewQuestion } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';

/** Attributes of a subject of any type, with the changes of a command. */
type ReviewedAttributes = NonNullable<ReviewQuestion['current']>;

const idIn = (attributes: ReviewedAttributes, name: string): string | undefined => {
  const value = attributes[name];
  return typeof value === 'string' ? value : undefined;
};

/**
 * The product categories of the advertiser that has these attributes, or to which their campaign, line item or creative belongs; none for
 * anything else.
 */
export async function productCategoriesOf(
  tx: Transaction,
  workspaceId: string,
  attributes: ReviewedAttributes,
): Promise<readonly string[]> {
  const { ad_product_categories: own } = attributes;
  if (Array.isArray(own)) return own.filter((category) => typeof category === 'string');
  const advertiserId = idIn(attributes, 'advertiser_id');
  if (advertiserId !== undefined) {
    const advertiser = await findResource(tx, workspaceId, 'advertisers', advertiserId);
    return advertiser?.attributes.ad_product_categories ?? [];
  }
  const campaignId = idIn(attributes, 'campaign_id');
  const campaign = campaignId === undefined ? undefined : await findResource(tx, workspaceId, 'campaigns', campaignId);
  return campaign ? productCategoriesOf(tx, workspaceId, { advertiser_id: campaign.attributes.advertiser_id }) : [];
}
