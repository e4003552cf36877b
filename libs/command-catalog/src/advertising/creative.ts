import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import {
  cause,
  foundProblem,
  leaseReason,
  reference,
  sha256,
  shortText,
  stateReason,
  taxonomyIds,
  timeWindow,
  webUrl,
} from '../fields.ts';
import { externalIds } from './external-ids.ts';
import { hlsTrack, pictureTrack } from '../hosting/media-files.ts';

/** One stream of the ad. The streams of a format have one duration and different loudnesses. */
const media = z.strictObject({
  stream_format: z.string(),
  storage_key: z.string(),
  sha256,
  size_bytes: z.int().min(1),
  duration_ms: z.int().min(1),
  loudness_lufs: z.number().nullable(),
  true_peak_dbtp: z.number().nullable(),
  /** The same sound at the same loudness for HLS; absent in streams of a release that made none. */
  hls: hlsTrack.optional(),
});

/** The pictures of an ad in the sizes that every podcast with pictures has, and those for seeking. Sound is never inside. */
const rungs = z.strictObject({ v360: pictureTrack, v720: pictureTrack, v1080: pictureTrack, iframe: pictureTrack });

/** An https address with macros of VAST. */
const trackerUrl = z
  .string()
  .max(2000)
  .regex(/^https:\/\/[^\s\\@/?#[\]]+(?:[/?][^\s\\]*)?$/i, 'Write an https address.');

/** Addresses of the demand source that are called when something happens to a serving of the ad. */
const creativeTrackers = z
  .array(
    z.strictObject({
      event: z.enum([
        ...(['impression', 'start', 'first_quartile', 'midpoint', 'third_quartile', 'complete'] as const),
        ...(['click', 'error'] as const),
      ]),
      url_template: trackerUrl,
    }),
  )
  .max(24);

const settings = {
  name: shortText,
  production: z.enum(['host_read', 'producer_read', 'produced']),
  /** Identifier of the ad across systems (Ad-ID and the like); "unknown" is the registered fallback of VAST 4. */
  universal_ad_id: z.string().min(1).max(255),
  click_url: webUrl.optional(),
  /** IAB content categories of the ad itself. */
  categories: taxonomyIds.default([]),
  /** The podcast whose host reads it: a publisher of that podcast reviews the ad. Only of the production host_read. */
  host_podcast_id: reference('pod').optional(),
  /** The time in which it may play, in any assignment. */
  valid_window: timeWindow.optional(),
  /** Ids of the creative in other systems, by which reconciliations find it. */
  external_ids: externalIds.optional(),
};

const identity = { advertiser_id: reference('adv'), format: z.enum(['audio', 'video', 'hybrid']) };

/** Creatives: ads with their prepared streams. */
export const creatives = defineResource({
  type: 'creatives',
  noun: 'creative',
  prefix: 'crv',
  attributes: z.strictObject({
    ...identity,
    ...settings,
    upload_id: reference('upl').optional(),
    media: z.array(media),
    /** Present while tracks are made for streams that have none, and after that failed. */
    tracks: z.strictObject({ state: z.enum(['encoding', 'failed']), problem: foundProblem.optional() }).optional(),
    /** Tracks of HLS with its picture, or with a still one for an ad of sound; the same for all loudnesses. */
    pictures: z
      .strictObject({
        state: z.enum(['encoding', 'ready', 'failed']),
        ...rungs.partial().shape,
        problem: foundProblem.optional(),
      })
      .optional(),
    duration_ms: z.int().min(1).optional(),
    disclosure: shortText.optional(),
    /** Of an ad that a demand source answered with; absent in every other. */
    trackers: creativeTrackers.optional(),
    /** The source that answered with it; digests of its id there, and of what was reviewed of it (docs/vast.md). */
    demand_source_id: reference('dms').optional(),
    demand_ad_key: sha256.optional(),
    demand_key: sha256.optional(),
    problem: foundProblem.optional(),
    state_reason: stateReason,
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
    demand_source: { attribute: 'demand_source_id', type: 'demand_sources' },
  },
  uniqueAttributes: [],
});

export const creativeCommands = {
  'creative.create': defineCommand({
    type: 'creative.create',
    subject: 'creatives',
    to: 'draft',
    changes: z.strictObject({ ...identity, ...settings }),
    roles: ['trafficker', 'admin'],
    event: 'creative.created',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    summary:
      'Creates a creative; attach its media afterwards. One with format "video" or "hybrid" needs a file with a picture, which podcasts with pictures show.',
  }),
  'creative.import': defineCommand({
    type: 'creative.import',
    subject: 'creatives',
    to: 'processing',
    changes: z.strictObject({
      demand_source_id: reference('dms'),
      demand_ad_key: sha256,
      demand_key: sha256,
      name: settings.name,
      universal_ad_id: settings.universal_ad_id,
      click_url: settings.click_url,
      categories: taxonomyIds,
      trackers: creativeTrackers,
      /** The media file, which is stored already. */
      source: z.strictObject({ storage_key: z.string(), etag: z.string(), sha256, size_bytes: z.int().min(1) }),
    }),
    machines: ['management'],
    mode: 'async',
    endedBy: 'creative.cancel_media',
    event: 'creative.imported',
    hasRule: true,
    problems: ['link_not_found', 'state_not_allowed'],
    externalEffect: 'An encoder prepares the streams that stitching needs.',
    summary: 'A worker takes over an ad that a demand source answered with.',
  }),
  'creative.record_trackers': defineCommand({
    type: 'creative.record_trackers',
    subject: 'creatives',
    from: ['processing', 'processing_failed', 'pending_review', 'approved', 'suspended'],
    changes: z.strictObject({ trackers: creativeTrackers }),
    machines: ['management'],
    event: 'creative.trackers_recorded',
    summary: 'A worker records the addresses that the demand source of an ad wants called now.',
  }),
  'creative.revise': defineCommand({
    type: 'creative.revise',
    subject: 'creatives',
    from: ['draft', 'approved'],
    changes: z.strictObject({ ...settings, categories: taxonomyIds, disclosure: shortText }).partial(),
    roles: ['trafficker', 'admin'],
    review: 'policy',
    versionGuard: 'required',
    event: 'creative.revised',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    summary:
      'Changes the details of a creative. After approval its media, click address and reader can no longer change.',
  }),
  'creative.attach_media': defineCommand({
    type: 'creative.attach_media',
    subject: 'creatives',
    from: ['draft', 'processing_failed', 'pending_review'],
    to: 'processing',
    changes: z.strictObject({ upload_ref: reference('upl') }),
    roles: ['trafficker', 'admin'],
    mode: 'async',
    endedBy: 'creative.cancel_media',
    versionGuard: 'required',
    event: 'creative.media_attached',
    hasRule: true,
    problems: ['upload_not_received', 'temporarily_unavailable'],
    externalEffect: 'An encoder prepares the streams that stitching needs.',
    summary: 'Attaches an uploaded file to a creative and prepares it for stitching.',
  }),
  'creative.cancel_media': defineCommand({
    type: 'creative.cancel_media',
    subject: 'creatives',
    from: ['processing'],
    to: 'draft',
    changes: z.strictObject({}),
    roles: ['trafficker', 'admin'],
    settles: 'cancelled',
    settlesOf: ['creative.attach_media', 'creative.import'],
    event: 'creative.media_cancelled',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary: 'Stops the preparation of a creative’s media; refused when it is prepared already.',
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
    hasRule: true,
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
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'An encoder reports why a creative could not be prepared.',
  }),
  'creative.start_tracks': defineCommand({
    type: 'creative.start_tracks',
    subject: 'creatives',
    from: ['processing', 'pending_review', 'approved', 'suspended'],
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'creative.tracks_started',
    hasRule: true,
    problems: ['temporarily_unavailable'],
    externalEffect: 'An encoder takes the job, behind new episodes and ads.',
    summary:
      'Starts to make tracks of HLS for prepared streams that have none, when a podcast of the workspace has been switched to HLS. The streams stay as they are.',
  }),
  'creative.record_tracks': defineCommand({
    type: 'creative.record_tracks',
    subject: 'creatives',
    from: ['processing', 'pending_review', 'approved', 'suspended'],
    changes: z.strictObject({
      /** By the SHA-256 of the stream whose sound it is. */
      tracks: z.array(z.strictObject({ stream: sha256, hls: hlsTrack })).min(1),
    }),
    reason: leaseReason,
    machines: ['encoder'],
    event: 'creative.tracks_recorded',
    hasRule: true,
    problems: ['lease_lost'],
    externalEffect: 'The next serving plan has the tracks.',
    summary: 'An encoder reports tracks of HLS for the streams of a creative.',
  }),
  'creative.fail_tracks': defineCommand({
    type: 'creative.fail_tracks',
    subject: 'creatives',
    from: ['processing', 'pending_review', 'approved', 'suspended'],
    changes: z.strictObject({ problem: foundProblem }),
    reason: leaseReason,
    machines: ['encoder'],
    event: 'creative.tracks_failed',
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'An encoder reports why it could not make tracks of HLS; the streams stay as they are.',
  }),
  'creative.start_pictures': defineCommand({
    type: 'creative.start_pictures',
    subject: 'creatives',
    from: ['processing', 'pending_review', 'approved', 'suspended'],
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'creative.pictures_started',
    hasRule: true,
    problems: ['temporarily_unavailable'],
    externalEffect: 'An encoder takes the job, behind new episodes and ads.',
    summary:
      'Starts to make the pictures of a prepared creative for HLS, where a podcast of the workspace has them: its own picture, or a still one for an ad of sound.',
  }),
  'creative.record_pictures': defineCommand({
    type: 'creative.record_pictures',
    subject: 'creatives',
    from: ['processing', 'pending_review', 'approved', 'suspended'],
    changes: rungs,
    reason: leaseReason,
    machines: ['encoder'],
    event: 'creative.pictures_recorded',
    hasRule: true,
    problems: ['lease_lost'],
    externalEffect: 'The next serving plan has the pictures.',
    summary: 'An encoder reports the pictures of a creative for HLS.',
  }),
  'creative.fail_pictures': defineCommand({
    type: 'creative.fail_pictures',
    subject: 'creatives',
    from: ['processing', 'pending_review', 'approved', 'suspended'],
    changes: z.strictObject({ problem: foundProblem }),
    reason: leaseReason,
    machines: ['encoder'],
    event: 'creative.pictures_failed',
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'An encoder reports why it could not make the pictures of a creative; the rest of it stays as it is.',
  }),
  'creative.submit': defineCommand({
    type: 'creative.submit',
    subject: 'creatives',
    from: ['processing'],
    to: 'approved',
    changes: z.strictObject({
      disclosure: shortText,
      click_url: webUrl.optional(),
      /** Needed of an ad that a host reads, unless the creative names the podcast already. */
      host_podcast_id: settings.host_podcast_id,
    }),
    roles: ['trafficker', 'admin'],
    machines: ['management'],
    review: 'policy',
    versionGuard: 'required',
    event: 'creative.approved',
    hasRule: true,
    problems: ['creative_not_ready', 'validation_failed', 'link_not_found', 'policy_rejected'],
    summary:
      'Submits a prepared creative. One that a host reads is reviewed by another publisher of its podcast; any other is approved at once without a review policy.',
  }),
  'creative.suspend': defineCommand({
    type: 'creative.suspend',
    subject: 'creatives',
    from: ['approved'],
    to: 'suspended',
    changes: z.strictObject({ cause }),
    roles: ['trafficker', 'reviewer', 'publisher', 'admin'],
    versionGuard: 'required',
    event: 'creative.suspended',
    externalEffect: 'Within seconds, ad decisions no longer choose it.',
    summary: 'Takes an approved creative out of use temporarily.',
  }),
  'creative.reinstate': defineCommand({
    type: 'creative.reinstate',
    subject: 'creatives',
    from: ['suspended'],
    to: 'approved',
    changes: z.strictObject({ cause }),
    roles: ['trafficker', 'reviewer', 'publisher', 'admin'],
    versionGuard: 'required',
    review: 'single',
    reviewers: ['reviewer', 'publisher', 'admin'],
    event: 'creative.reinstated',
    externalEffect:
      'It serves again within seconds if the current serving plan contains it, otherwise with the next plan.',
    summary: 'Ends a suspension.',
  }),
  'creative.reject': defineCommand({
    type: 'creative.reject',
    subject: 'creatives',
    from: ['pending_review', 'approved'],
    to: 'rejected',
    changes: z.strictObject({ cause }),
    roles: ['reviewer', 'publisher', 'admin'],
    versionGuard: 'required',
    event: 'creative.rejected',
    hasRule: true,
    externalEffect: 'Within seconds, ad decisions no longer choose it.',
    summary: 'Rejects a creative permanently.',
  }),
  'creative.archive': defineCommand({
    type: 'creative.archive',
    subject: 'creatives',
    from: ['draft', 'processing', 'processing_failed', 'pending_review', 'approved', 'suspended'],
    to: 'archived',
    changes: z.strictObject({}),
    roles: ['trafficker', 'admin'],
    machines: ['management'],
    settles: 'cancelled',
    settlesOf: ['creative.attach_media', 'creative.import'],
    versionGuard: 'required',
    event: 'creative.archived',
    hasRule: true,
    problems: ['still_in_use'],
    summary: 'Archives a creative; refused while an active assignment uses it.',
  }),
} as const;
