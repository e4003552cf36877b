import type { productCatalog } from '@longwave/command-catalog';
import { findResource, holdResource, type ResourceRow, type Rules } from '@longwave/command-pipeline';
import { endedLineItemStates } from '../campaigns/campaign.ts';
import { requireProductTerms } from '../products/require-product.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireResources } from '../../workspace/require-resources.ts';

type CreativeAssignmentRules = Pick<Rules<typeof productCatalog>, 'creative_assignment.create'>;

/** States of a line item that was booked. */
const soldStates: readonly string[] = ['booked', 'delivering', 'delivery_extended', 'paused'];

/** States in which a creative can no longer be used. */
const endedCreativeStates: readonly string[] = ['rejected', 'archived'];

/** Whether a line item of this advertiser's campaign may play the creative. */
export const isAssignable = (creative: ResourceRow<'creatives'> | undefined, advertiserId: string): boolean =>
  creative !== undefined &&
  !endedCreativeStates.includes(creative.lifecycle_state) &&
  creative.attributes.advertiser_id === advertiserId;

/** Rules of the creative assignment commands. Neither side ever changes its advertiser, so one check is enough. */
export const creativeAssignmentRules: CreativeAssignmentRules = {
  'creative_assignment.create': async ({ tx, workspaceId, changes }) => {
    // A booking that commits meanwhile checks this creative, or this command sees the booking.
    await holdResource(tx, workspaceId, 'line_items', changes.line_item_id);
    const [lineItem] = await requireResources(tx, {
      workspaceId,
      type: 'line_items',
      ids: [changes.line_item_id],
      path: '/changes/line_item_id',
      unless: endedLineItemStates,
    });
    const [creative] = await requireResources(tx, {
      workspaceId,
      type: 'creatives',
      ids: [changes.creative_id],
      path: '/changes/creative_id',
      unless: endedCreativeStates,
    });
    const campaign = await findResource(tx, workspaceId, 'campaigns', lineItem!.attributes.campaign_id);
    if (!isAssignable(creative, campaign!.attributes.advertiser_id))
      refuseField(
        '/changes/creative_id',
        'other_advertiser',
        'The creative belongs to another advertiser than the campaign of the line item.',
      );
    // Until it is sold, its booking checks every creative.
    if (!soldStates.includes(lineItem!.lifecycle_state)) return { attributes: changes };
    const { id, attributes } = lineItem!;
    const decidedBy = await requireProductTerms(tx, workspaceId, id, attributes, creative!.attributes);
    return { attributes: changes, decidedBy };
  },
};
