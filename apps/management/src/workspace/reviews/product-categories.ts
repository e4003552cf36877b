import { findResource, listByIds, listLinked, type ReviewQuestion } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';

/** Attributes of a subject of any type, with the changes of a command. */
type ReviewedAttributes = NonNullable<ReviewQuestion['current']>;

const textIn = (attributes: ReviewedAttributes, name: string): string | undefined => {
  const value = attributes[name];
  return typeof value === 'string' ? value : undefined;
};
const textsIn = (attributes: ReviewedAttributes, name: string): readonly string[] => {
  const value = attributes[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
};

async function categoriesOfAdvertiser(
  tx: Transaction,
  workspaceId: string,
  attributes: ReviewedAttributes,
): Promise<readonly string[]> {
  const advertiserId = textIn(attributes, 'advertiser_id');
  if (advertiserId !== undefined) {
    const advertiser = await findResource(tx, workspaceId, 'advertisers', advertiserId);
    return advertiser?.attributes.ad_product_categories ?? [];
  }
  const campaignId = textIn(attributes, 'campaign_id');
  const campaign = campaignId === undefined ? undefined : await findResource(tx, workspaceId, 'campaigns', campaignId);
  return campaign ? categoriesOfAdvertiser(tx, workspaceId, { advertiser_id: campaign.attributes.advertiser_id }) : [];
}

/** The categories of the creatives that a line item has, whether their assignments serve already or not. */
async function categoriesOfCreatives(tx: Transaction, workspaceId: string, lineItemId: string): Promise<string[]> {
  const assignments = await listLinked(tx, workspaceId, 'creative_assignments', 'line_item', lineItemId);
  const present = assignments.filter(({ lifecycle_state: state }) => state !== 'ended');
  const ids = present.map(({ attributes }) => attributes.creative_id);
  const creatives = await listByIds(tx, workspaceId, 'creatives', ids);
  return creatives.flatMap(({ attributes }) => attributes.categories);
}

/**
 * The categories that a command is about: the product categories of the advertiser that is its subject, or to which the subject belongs, with
 * the categories of the creative that is its subject, or of the creatives of a line item; none for anything else.
 * @param attributes of the subject, with the changes of the command
 */
export async function categoriesOf(
  tx: Transaction,
  { definition, workspaceId, subjectId }: Pick<ReviewQuestion, 'definition' | 'workspaceId' | 'subjectId'>,
  attributes: ReviewedAttributes,
): Promise<readonly string[]> {
  const { subject } = definition;
  if (subject === 'advertisers') return textsIn(attributes, 'ad_product_categories');
  const ofAdvertiser = await categoriesOfAdvertiser(tx, workspaceId, attributes);
  if (subject === 'creatives') return [...ofAdvertiser, ...textsIn(attributes, 'categories')];
  if (subject === 'line_items' && subjectId !== undefined)
    return [...ofAdvertiser, ...(await categoriesOfCreatives(tx, workspaceId, subjectId))];
  return ofAdvertiser;
}
