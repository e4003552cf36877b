import { z } from 'zod';
import { defineCommand, defineResource } from './definition.ts';
import { reference, shortText, timeWindow } from './fields.ts';

const brand = z.strictObject({ id: z.string().min(1).max(64), name: shortText, domain: z.string().max(253) });

/** Advertisers: who pays. */
export const advertisers = defineResource({
  type: 'advertisers',
  noun: 'advertiser',
  prefix: 'adv',
  attributes: z.strictObject({
    legal_name: shortText,
    brands: z.array(brand).max(50),
    ad_product_categories: z.array(z.string().max(64)).max(20),
  }),
  states: ['draft', 'active', 'suspended', 'archived'],
  terminalStates: ['archived'],
  links: {},
  uniqueAttributes: [],
});

/** Campaigns: one order of an advertiser. */
export const campaigns = defineResource({
  type: 'campaigns',
  noun: 'campaign',
  prefix: 'cmp',
  attributes: z.strictObject({ advertiser_id: reference('adv'), name: shortText, window: timeWindow }),
  states: ['draft', 'pending_review', 'declined', 'approved', 'active', 'paused', 'completed', 'cancelled', 'archived'],
  terminalStates: ['archived'],
  links: { advertiser: { attribute: 'advertiser_id', type: 'advertisers' } },
  uniqueAttributes: [],
});

export const campaignCommands = {
  'advertiser.create': defineCommand({
    type: 'advertiser.create',
    subject: 'advertisers',
    to: 'draft',
    changes: z.strictObject({
      legal_name: shortText,
      brands: z.array(brand).max(50),
      ad_product_categories: z.array(z.string().max(64)).max(20),
    }),
    roles: ['trafficker', 'sales', 'admin'],
    event: 'advertiser.created',
    summary: 'Creates an advertiser.',
  }),
  'campaign.create': defineCommand({
    type: 'campaign.create',
    subject: 'campaigns',
    to: 'draft',
    changes: z.strictObject({ advertiser_id: reference('adv'), name: shortText, window: timeWindow }),
    roles: ['trafficker', 'sales', 'admin'],
    event: 'campaign.created',
    summary: 'Creates a campaign of an advertiser.',
  }),
  'campaign.submit': defineCommand({
    type: 'campaign.submit',
    subject: 'campaigns',
    from: ['draft', 'declined'],
    to: 'approved',
    changes: z.strictObject({}),
    roles: ['trafficker', 'sales', 'admin'],
    review: 'policy',
    versionGuard: 'required',
    event: 'campaign.approved',
    summary: 'Submits a campaign; without a review policy it is approved at once.',
  }),
  'campaign.activate': defineCommand({
    type: 'campaign.activate',
    subject: 'campaigns',
    from: ['approved'],
    to: 'active',
    changes: z.strictObject({}),
    roles: ['trafficker', 'admin'],
    versionGuard: 'required',
    event: 'campaign.activated',
    summary: 'Activates an approved campaign; its booked line items may serve.',
  }),
} as const;
