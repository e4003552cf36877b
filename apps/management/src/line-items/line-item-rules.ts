import type { productCatalog } from '@longwave/command-catalog';
import { findResource, listLinked, type Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';

type LineItemRules = Pick<Rules<typeof productCatalog>, 'line_item.submit' | 'line_item.book'>;

/** How many creatives a line item has in the wanted states of assignment and creative. */
async function countCreatives(
  tx: Transaction,
  workspaceId: string,
  lineItemId: string,
  wanted: { readonly assignment: readonly string[]; readonly creative: readonly string[] },
): Promise<number> {
  let count = 0;
  for (const assignment of await listLinked(tx, workspaceId, 'creative_assignments', 'line_item', lineItemId)) {
    if (!wanted.assignment.includes(assignment.lifecycle_state)) continue;
    const creative = await findResource(tx, workspaceId, 'creatives', String(assignment.attributes['creative_id']));
    if (creative && wanted.creative.includes(creative.lifecycle_state)) count++;
  }
  return count;
}

const refuse = (detail: string) => new Problem('line_item_not_bookable', detail);

/** Rules of the line item commands (design: commands.md §4). */
export const lineItemRules: LineItemRules = {
  'line_item.submit': async ({ tx, workspaceId, subjectId, current, now }) => {
    if (Date.parse(current.window.end) <= now.getTime()) throw refuse('The window lies in the past.');
    const creatives = await countCreatives(tx, workspaceId, subjectId, {
      assignment: ['draft', 'active'],
      creative: ['approved', 'pending_review'],
    });
    if (current.type !== 'exclusive' && creatives === 0) throw refuse('Assign an approved or pending creative first.');
    return { attributes: current };
  },

  'line_item.book': async ({ tx, workspaceId, subjectId, current }) => {
    const campaign = await findResource(tx, workspaceId, 'campaigns', current.campaign_id);
    if (!campaign || !['approved', 'active'].includes(campaign.lifecycle_state))
      throw refuse('Approve the campaign first.');
    if ((await countCreatives(tx, workspaceId, subjectId, { assignment: ['active'], creative: ['approved'] })) === 0)
      throw refuse('Activate the assignment of an approved creative first.');
    return { attributes: current };
  },
};
