import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, separationGroup, shortText, stateReason, taxonomyIds } from '../fields.ts';

const brand = z.strictObject({ id: z.string().min(1).max(64), name: shortText, domain: z.string().max(253) });

const settings = {
  legal_name: shortText,
  brands: z.array(brand).max(50),
  /** IAB Ad Product Taxonomy 2.x. */
  ad_product_categories: taxonomyIds,
  /** Its groups of competitors. */
  separation_groups: z.array(separationGroup).max(20).default([]),
  /** Reference for bills, as the account writes it. */
  billing_ref: z.string().trim().min(1).max(128).optional(),
};

/** Advertisers. */
export const advertisers = defineResource({
  type: 'advertisers',
  noun: 'advertiser',
  prefix: 'adv',
  attributes: z.strictObject({ ...settings, state_reason: stateReason }),
  states: ['draft', 'active', 'suspended', 'archived'],
  terminalStates: ['archived'],
  links: {},
  uniqueAttributes: [],
});

export const advertiserCommands = {
  'advertiser.create': defineCommand({
    type: 'advertiser.create',
    subject: 'advertisers',
    to: 'draft',
    changes: z.strictObject(settings),
    roles: ['trafficker', 'sales', 'admin'],
    event: 'advertiser.created',
    summary: 'Creates an advertiser.',
  }),
  'advertiser.revise': defineCommand({
    type: 'advertiser.revise',
    subject: 'advertisers',
    from: ['draft', 'active'],
    changes: z.strictObject({ ...settings, separation_groups: z.array(separationGroup).max(20) }).partial(),
    roles: ['trafficker', 'sales', 'admin'],
    review: 'policy',
    versionGuard: 'required',
    event: 'advertiser.revised',
    summary: 'Changes the details of an advertiser.',
  }),
  'advertiser.activate': defineCommand({
    type: 'advertiser.activate',
    subject: 'advertisers',
    from: ['draft'],
    to: 'active',
    changes: z.strictObject({}),
    roles: ['sales', 'admin'],
    versionGuard: 'required',
    review: 'single',
    reviewers: ['reviewer', 'finance', 'admin'],
    event: 'advertiser.activated',
    summary: 'Confirms that the identity of an advertiser was checked and that it may advertise.',
  }),
  'advertiser.suspend': defineCommand({
    type: 'advertiser.suspend',
    subject: 'advertisers',
    from: ['active'],
    to: 'suspended',
    changes: z.strictObject({ cause }),
    roles: ['finance', 'admin'],
    versionGuard: 'required',
    event: 'advertiser.suspended',
    externalEffect: 'Within seconds, ad decisions no longer choose any of its ads.',
    summary: 'Suspends an advertiser; none of its ads are served from then on.',
  }),
  'advertiser.reinstate': defineCommand({
    type: 'advertiser.reinstate',
    subject: 'advertisers',
    from: ['suspended'],
    to: 'active',
    changes: z.strictObject({ cause }),
    roles: ['finance', 'admin'],
    versionGuard: 'required',
    review: 'single',
    reviewers: ['reviewer', 'finance', 'admin'],
    event: 'advertiser.reinstated',
    externalEffect:
      'Ads that the current serving plan contains serve again within seconds, the others with the next plan.',
    summary: 'Ends a suspension.',
  }),
  'advertiser.archive': defineCommand({
    type: 'advertiser.archive',
    subject: 'advertisers',
    from: ['draft', 'active', 'suspended'],
    to: 'archived',
    changes: z.strictObject({}),
    roles: ['admin'],
    versionGuard: 'required',
    event: 'advertiser.archived',
    hasRule: true,
    problems: ['still_in_use'],
    summary: 'Ends an advertiser; refused while it has an open campaign.',
  }),
} as const;
