import { z } from 'zod';
import { defineCommand, defineResource } from './definition.ts';
import { foundProblem, leaseReason, reference, sha256, shortText, webUrl } from './fields.ts';

/** One stream of the ad; all of a format have the same duration, each another loudness. */
const media = z.strictObject({
  stream_format: z.string(),
  storage_key: z.string(),
  sha256,
  size_bytes: z.int().min(1),
  duration_ms: z.int().min(1),
  loudness_lufs: z.number().nullable(),
  true_peak_dbtp: z.number().nullable(),
});

const settings = {
  advertiser_id: reference('adv'),
  name: shortText,
  format: z.literal('audio'),
  production: z.enum(['host_read', 'producer_read', 'produced']),
  /** Identifier of the ad across systems (Ad-ID and the like); "unknown" is the registered fallback of VAST 4. */
  universal_ad_id: z.string().min(1).max(255),
  click_url: webUrl.optional(),
};

/** Creatives: the ad itself, with the streams prepared for stitching. */
export const creatives = defineResource({
  type: 'creatives',
  noun: 'creative',
  prefix: 'crv',
  attributes: z.strictObject({
    ...settings,
    upload_id: reference('upl').optional(),
    media: z.array(media),
    duration_ms: z.int().min(1).optional(),
    disclosure: shortText.optional(),
    problem: foundProblem.optional(),
  }),
  states: [
    'draft',
    'processing',
    'processing_failed',
    'pending_review',
    'approved',
    'suspended',
    'rejected',
    'archived',
  ],
  terminalStates: ['rejected', 'archived'],
  links: {
    advertiser: { attribute: 'advertiser_id', type: 'advertisers' },
    upload: { attribute: 'upload_id', type: 'uploads' },
  },
  uniqueAttributes: [],
});

/** Creative assignments: which creatives a line item rotates. */
export const creativeAssignments = defineResource({
  type: 'creative_assignments',
  noun: 'creative_assignment',
  prefix: 'cas',
  attributes: z.strictObject({
    line_item_id: reference('li'),
    creative_id: reference('crv'),
    weight: z.int().min(1).max(1000),
  }),
  states: ['draft', 'active', 'paused', 'ended'],
  terminalStates: ['ended'],
  links: {
    line_item: { attribute: 'line_item_id', type: 'line_items' },
    creative: { attribute: 'creative_id', type: 'creatives' },
  },
  uniqueAttributes: [],
});

export const creativeCommands = {
  'creative.create': defineCommand({
    type: 'creative.create',
    subject: 'creatives',
    to: 'draft',
    changes: z.strictObject(settings),
    roles: ['trafficker', 'admin'],
    event: 'creative.created',
    ruled: true,
    summary: 'Creates a creative; its media is attached afterwards.',
  }),
  'creative.attach_media': defineCommand({
    type: 'creative.attach_media',
    subject: 'creatives',
    from: ['draft', 'processing_failed', 'pending_review'],
    to: 'processing',
    changes: z.strictObject({ upload_ref: reference('upl') }),
    roles: ['trafficker', 'admin'],
    mode: 'async',
    versionGuard: 'required',
    event: 'creative.media_attached',
    ruled: true,
    problems: ['upload_not_received'],
    externalEffect: 'An encoder prepares the streams that stitching needs.',
    summary: 'Attaches uploaded audio to a creative and prepares it for stitching.',
  }),
  'creative.record_media': defineCommand({
    type: 'creative.record_media',
    subject: 'creatives',
    from: ['processing'],
    changes: z.strictObject({ media: z.array(media).min(1), duration_ms: z.int().min(1) }),
    reason: leaseReason,
    machines: ['encoder'],
    settles: 'succeeded',
    event: 'creative.media_recorded',
    ruled: true,
    problems: ['lease_lost'],
    summary: 'An encoder reports the prepared streams of a creative.',
  }),
  'creative.fail_media': defineCommand({
    type: 'creative.fail_media',
    subject: 'creatives',
    from: ['processing'],
    to: 'processing_failed',
    changes: z.strictObject({ problem: foundProblem }),
    reason: leaseReason,
    machines: ['encoder'],
    settles: 'failed',
    event: 'creative.media_failed',
    ruled: true,
    problems: ['lease_lost'],
    summary: 'An encoder reports why a creative could not be prepared.',
  }),
  'creative.submit': defineCommand({
    type: 'creative.submit',
    subject: 'creatives',
    from: ['processing'],
    to: 'approved',
    changes: z.strictObject({ disclosure: shortText, click_url: webUrl.optional() }),
    roles: ['trafficker', 'admin'],
    review: 'policy',
    versionGuard: 'required',
    event: 'creative.approved',
    ruled: true,
    problems: ['creative_not_ready'],
    summary: 'Submits a prepared creative; without a review policy it is approved at once.',
  }),
  'creative_assignment.create': defineCommand({
    type: 'creative_assignment.create',
    subject: 'creative_assignments',
    to: 'draft',
    changes: z.strictObject({
      line_item_id: reference('li'),
      creative_id: reference('crv'),
      weight: z.int().min(1).max(1000).default(1),
    }),
    roles: ['trafficker', 'admin'],
    event: 'creative_assignment.created',
    summary: 'Assigns a creative to a line item.',
  }),
  'creative_assignment.activate': defineCommand({
    type: 'creative_assignment.activate',
    subject: 'creative_assignments',
    from: ['draft', 'paused'],
    to: 'active',
    changes: z.strictObject({}),
    roles: ['trafficker', 'admin'],
    versionGuard: 'required',
    event: 'creative_assignment.activated',
    summary: 'Lets the assigned creative rotate.',
  }),
} as const;
