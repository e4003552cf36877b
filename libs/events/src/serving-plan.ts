import { z } from 'zod';
import { breakPosition } from './served-ad.ts';

/** The stream format of tracks of HLS with sound: AAC at 192 kbit/s (docs/hls.md). */
export const hlsAudioFormat = 'hls-aac-192';

/** The track of HLS with the sound of one prepared stream. Its file and its index lie in the object store under their digests. */
export const adTrackSchema = z.strictObject({
  /** As `CODECS` of a playlist names it. */
  codec: z.string().min(1).max(64),
  /** SHA-256 (hex) of the file. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  size_bytes: z.int().min(1),
  duration_ms: z.int().min(1),
  /** SHA-256 (hex) of the index of its cells. */
  index_digest: z.string().regex(/^[0-9a-f]{64}$/),
  index_size_bytes: z.int().min(1),
});
export type AdTrack = z.infer<typeof adTrackSchema>;

/** The stream format of pictures of HLS: H.264 in 360p, 720p and 1080p, and those for seeking. */
export const hlsPictureFormat = 'hls-avc';

/** One size of the pictures of an ad, or the pictures for seeking. */
export const adPictureSchema = z.strictObject({
  name: z.enum(['v360', 'v720', 'v1080', 'iframe']),
  ...adTrackSchema.shape,
  width: z.int().min(1),
  height: z.int().min(1),
  /** Pictures per second as a fraction. */
  frame_rate: z.strictObject({ frames: z.int().min(1), seconds: z.int().min(1) }),
});
export type AdPicture = z.infer<typeof adPictureSchema>;

/** One prepared stream of a creative. */
const planMedia = z.strictObject({
  stream_format: z.string(),
  /** Measured, integrated (ITU-R BS.1770); null when it could not be measured. */
  loudness_lufs: z.number().nullable(),
  segment_digest: z.string(),
  size_bytes: z.int().min(1),
  duration_ms: z.int().min(1),
  /** Absent when the stream has none. */
  hls: adTrackSchema.optional(),
});

/** Half-open. */
const planWindow = z.strictObject({ start: z.string(), end: z.string() });

/** Empty `include` means any; `exclude` wins over `include`. */
const inOrOut = z.strictObject({ include: z.array(z.string()), exclude: z.array(z.string()) });

const planTargeting = z.strictObject({
  podcasts: inOrOut,
  episodes: inOrOut,
  /** ISO 3166-1 alpha-2. */
  countries: inOrOut,
  /** ISO 3166-2, "US-CA". */
  regions: inOrOut,
  /** Primary language subtags, "en". */
  languages: inOrOut,
  /** Device classes of the user-agent lists: "mobile", "smart_speaker". */
  devices: inOrOut,
  /** Names of the user-agent lists: "iOS", "Android". Absent: any. */
  operating_systems: inOrOut.optional(),
  /** App names of the user-agent lists. */
  apps: inOrOut,
  surfaces: inOrOut,
  content_categories: inOrOut,
  explicit: z.enum(['any', 'only', 'none']),
  /** Hours since publication, half-open; absent bounds are open. */
  episode_age_hours: z.strictObject({ min: z.int().min(0).optional(), max: z.int().min(1).optional() }),
  /** Hours of the local week that may serve, 0 = Monday 00:00; null for any. */
  dayparts: z.strictObject({ time_zone: z.string(), hours: z.array(z.int().min(0).max(167)) }).nullable(),
});

const planCreative = z.strictObject({
  creative_id: z.string(),
  weight: z.int().min(1),
  /** Place in a sequential rotation. */
  sequence_no: z.int().min(1),
  window: planWindow.nullable(),
  /** Places in a break that it may have. */
  place: z.enum(['any', 'first', 'last']),
  production: z.enum(['host_read', 'producer_read', 'produced']),
  click_url: z.string().nullable(),
  /** The ad's own, beside those of its advertiser. Absent: none. */
  categories: z.array(z.string()).min(1).optional(),
  media: z.array(planMedia),
  /** All four, the same for every loudness; absent when the creative has none. */
  pictures: z.array(adPictureSchema).length(4).optional(),
});

/** What the pacer needs of a line item (docs/pacing.md). */
const planPacing = z.strictObject({
  mode: z.enum(['even', 'front_loaded', 'asap']),
  velocity: z.number().min(1).max(2),
  finish_early_pct: z.number().min(0).max(20),
  daily_min: z.int().min(1).optional(),
  daily_max: z.int().min(1).optional(),
  counting_basis: z.enum(['reserved', 'served_bytes', 'ad_delivered', 'client_event']),
  /** Millionths of the currency for a thousand units; absent when it is not sold by units. */
  unit_price_micros: z.int().min(0).optional(),
  /** Budget of the campaign in millionths of the currency; absent when it has none. */
  campaign_budget_micros: z.int().min(0).optional(),
  /** IANA name of the zone whose days bound it. */
  time_zone: z.string(),
});

/** A line item in the plan. */
const planLineItem = z.strictObject({
  line_item_id: z.string(),
  campaign_id: z.string(),
  advertiser_id: z.string(),
  type: z.enum(['exclusive', 'sponsorship', 'guaranteed', 'non_guaranteed', 'house']),
  priority: z.int().min(1).max(10),
  /** Weight of an exclusive or house line item among its equals. */
  weight: z.int().min(1),
  window: planWindow,
  goal: z.strictObject({
    unit: z.enum(['impressions', 'completes', 'share_pct', 'unlimited']),
    /** Impressions or completes, or per cent of the breaks that it may serve in. */
    quantity: z.int().min(1).optional(),
  }),
  /** Whether a delivered ad is billed; never for house line items. */
  billable: z.boolean(),
  /** Price of a thousand, in millionths of the workspace's currency; null when it is not sold by impressions. */
  cpm_micros: z.int().min(0).nullable(),
  /** Completed ads per decided slot, where it counts those: what a slot brings is so much less. Absent: 1. */
  completion_factor: z.number().gt(0).max(1).optional(),
  /** Each once. Plans of releases before may repeat them any number of times: what is read of them does not. */
  break_positions: z.array(breakPosition).transform((all) => [...new Set(all)]),
  targeting: planTargeting,
  frequency_caps: z.array(
    z.strictObject({
      max: z.int().min(1),
      per: z.enum(['listener_bucket', 'episode', 'break']),
      window_seconds: z.int().min(1),
    }),
  ),
  /** Groups of competitors: the advertiser's and the campaign's. */
  separation_groups: z.array(z.string()),
  ad_product_categories: z.array(z.string()),
  creative_rotation: z.enum(['weighted', 'sequential']),
  creatives: z.array(planCreative),
  /** How its goal is to be spread over its window, for the pacer. Absent in plans of releases before it: as soon as possible. */
  pacing: planPacing.optional(),
});

/** The distance between two competing ads. `minutes` counts content time between breaks. */
const separation = z.strictObject({
  scope: z.enum(['none', 'break', 'minutes', 'episode']),
  minutes: z.int().min(1).optional(),
});

/**
 * A compiled serving plan: everything a decision reads, and nothing else (no budgets or names).
 * Stored under `plans/{sha256 of its JCS form}.json`; `serving_plan.published` carries the pointer.
 */
export const servingPlanSchema = z.strictObject({
  format: z.literal(2),
  workspace_id: z.string(),
  effective_from: z.string(),
  inputs: z.array(z.strictObject({ type: z.string(), id: z.string(), version: z.int() })),
  separation: z.strictObject({ advertiser: separation, group: separation, category: separation }),
  /**
   * Least price of non-guaranteed line items; a null podcast stands for podcasts without a floor of their own, an absent position for those
   * without one of theirs.
   */
  floors: z.array(
    z.strictObject({
      podcast_id: z.string().nullable(),
      position: breakPosition.optional(),
      min_cpm_micros: z.int().min(0),
    }),
  ),
  line_items: z.array(planLineItem),
});

/** What makes one plan another one. */
export const planChangesSchema = z.strictObject({
  /** The other one without its line items. */
  plan: servingPlanSchema.omit({ line_items: true }),
  /** Those that the first one has otherwise, or not. */
  line_items: z.array(planLineItem),
  /** Ids of those that only the first one has. */
  removed: z.array(z.string()),
});

export type PlanChanges = z.infer<typeof planChangesSchema>;
export type ServingPlanDocument = z.infer<typeof servingPlanSchema>;
export type PlanLineItem = z.infer<typeof planLineItem>;
export type PlanTargeting = z.infer<typeof planTargeting>;
export type Separation = z.infer<typeof separation>;

const anything: z.infer<typeof inOrOut> = { include: [], exclude: [] };

/** Targeting without any restriction. */
export const anyTargeting: PlanTargeting = {
  podcasts: anything,
  episodes: anything,
  countries: anything,
  regions: anything,
  languages: anything,
  devices: anything,
  apps: anything,
  surfaces: anything,
  content_categories: anything,
  explicit: 'any',
  episode_age_hours: {},
  dayparts: null,
};

/** The default separation. */
export const defaultSeparation: ServingPlanDocument['separation'] = {
  advertiser: { scope: 'break' },
  group: { scope: 'episode' },
  category: { scope: 'break' },
};
