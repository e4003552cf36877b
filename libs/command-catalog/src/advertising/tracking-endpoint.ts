import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, foundProblem, instant, leaseReason, reference, shortText, stateReason } from '../fields.ts';

/** What happens to a serving that trackers are told of. */
const trackedEvents = ['impression', 'start', 'first_quartile', 'midpoint', 'third_quartile', 'complete'] as const;

const settings = {
  vendor: shortText.describe('Whose tracker it is.'),
  url_template: z
    .string()
    .min(1)
    .max(2000)
    .describe('An https address that may hold macros of VAST, as [CACHEBUSTING], in its path and query.'),
  events: z
    .array(z.enum(trackedEvents))
    .min(1)
    .max(trackedEvents.length)
    .describe('“impression” is an ad that the ledger counts as delivered; the others are reports of players.'),
};

/** What it is told of: the servings of one of these. It never changes. */
const scope = {
  advertiser_id: reference('adv').optional(),
  campaign_id: reference('cmp').optional(),
  line_item_id: reference('li').optional(),
  creative_id: reference('crv').optional(),
};

/** The fields of which an endpoint has one. */
export const trackingScopes = ['advertiser_id', 'campaign_id', 'line_item_id', 'creative_id'] as const;

/** Tracking endpoints: addresses of others that the service calls when an ad was delivered or a player reported about it. */
export const trackingEndpoints = defineResource({
  type: 'tracking_endpoints',
  noun: 'tracking_endpoint',
  prefix: 'trk',
  attributes: z.strictObject({
    ...settings,
    ...scope,
    /** The macros of its address, each once, in their order: no other is filled. */
    allowed_macros: z.array(z.string()),
    /** When the present address was checked last; absent before. */
    validated_at: instant.optional(),
    /** Why the last check of the address failed. */
    problem: foundProblem.optional(),
    state_reason: stateReason,
  }),
  states: ['draft', 'validating', 'active', 'disabled', 'retired'],
  terminalStates: ['retired'],
  links: {
    advertiser: { attribute: 'advertiser_id', type: 'advertisers' },
    campaign: { attribute: 'campaign_id', type: 'campaigns' },
    line_item: { attribute: 'line_item_id', type: 'line_items' },
    creative: { attribute: 'creative_id', type: 'creatives' },
  },
  uniqueAttributes: [],
});

const base = { subject: 'tracking_endpoints', roles: ['trafficker', 'admin'], hasRule: true } as const;
const report = { ...base, roles: [], reason: leaseReason, machines: ['management'], problems: ['lease_lost'] } as const;

export const trackingEndpointCommands = {
  'tracking_endpoint.create': defineCommand({
    ...base,
    type: 'tracking_endpoint.create',
    to: 'draft',
    changes: z
      .strictObject({ ...settings, ...scope })
      .refine((changes) => trackingScopes.filter((field) => changes[field] !== undefined).length === 1, {
        message: 'Send exactly one of advertiser_id, campaign_id, line_item_id and creative_id.',
      }),
    event: 'tracking_endpoint.created',
    problems: ['validation_failed', 'link_not_found'],
    summary:
      'Makes an address that is called about the servings of one advertiser, campaign, line item or creative. It is called once it has been validated.',
  }),
  'tracking_endpoint.revise': defineCommand({
    ...base,
    type: 'tracking_endpoint.revise',
    from: ['draft', 'active', 'disabled'],
    changes: z.strictObject(settings).partial(),
    versionGuard: 'required',
    event: 'tracking_endpoint.revised',
    problems: ['validation_failed'],
    summary: 'Changes an endpoint. Another address needs another validation: disable an active endpoint first.',
  }),
  'tracking_endpoint.validate': defineCommand({
    ...base,
    type: 'tracking_endpoint.validate',
    from: ['draft', 'disabled'],
    to: 'validating',
    changes: z.strictObject({}),
    mode: 'async',
    review: 'single',
    reviewers: ['reviewer', 'publisher', 'admin'],
    versionGuard: 'required',
    event: 'tracking_endpoint.validation_requested',
    problems: ['validation_failed', 'rate_limited'],
    externalEffect:
      'The front page of the host is requested without its body; the address itself is not called. Servings that are counted afterwards are reported to it.',
    summary: 'Checks the address and its host, and activates the endpoint.',
  }),
  'tracking_endpoint.record_validation': defineCommand({
    ...report,
    type: 'tracking_endpoint.record_validation',
    from: ['validating'],
    to: 'active',
    changes: z.strictObject({}),
    settles: 'succeeded',
    event: 'tracking_endpoint.activated',
    externalEffect: 'Servings that are counted from now on are reported to the address.',
    summary: 'The check found nothing wrong with the address.',
  }),
  'tracking_endpoint.fail_validation': defineCommand({
    ...report,
    type: 'tracking_endpoint.fail_validation',
    from: ['validating'],
    to: 'draft',
    changes: z.strictObject({ problem: foundProblem }),
    settles: 'failed',
    event: 'tracking_endpoint.validation_failed',
    summary: 'The address cannot be used; records the reason.',
  }),
  'tracking_endpoint.disable': defineCommand({
    ...base,
    hasRule: false,
    type: 'tracking_endpoint.disable',
    from: ['active'],
    to: 'disabled',
    changes: z.strictObject({ cause }),
    event: 'tracking_endpoint.disabled',
    externalEffect: 'Nothing is called any more; calls that wait are given up.',
    summary: 'Stops the calls of an endpoint.',
  }),
  'tracking_endpoint.enable': defineCommand({
    ...base,
    type: 'tracking_endpoint.enable',
    from: ['disabled'],
    to: 'active',
    changes: z.strictObject({}),
    event: 'tracking_endpoint.enabled',
    problems: ['state_not_allowed'],
    externalEffect: 'Servings that are counted from now on are reported to the address.',
    summary: 'Enables an endpoint whose address has not changed since it was validated. What it missed is not sent.',
  }),
  'tracking_endpoint.retire': defineCommand({
    ...base,
    hasRule: false,
    type: 'tracking_endpoint.retire',
    from: ['draft', 'active', 'disabled'],
    to: 'retired',
    changes: z.strictObject({ cause }),
    event: 'tracking_endpoint.retired',
    externalEffect: 'Nothing is called any more; calls that wait are given up.',
    summary: 'Ends an endpoint for good.',
  }),
} as const;
