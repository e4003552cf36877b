import { createHash } from 'node:crypto';
import { idFromBytes, idPrefixes, isId } from '@longwave/ids';
import { z } from 'zod';
import { servedAdSchema } from './served-ad.ts';

/** Why the address of a request excludes it from counting (docs/counting.md, rule 12), decided by the service that sees the address. */
export const addressVerdicts = ['ok', 'dc_ip', 'vpn_ip', 'tor_ip', 'deny_ip'] as const;

/** Half-open byte interval of the arrangement. */
const byteInterval = z.tuple([z.int().min(0), z.int().min(0)]);

/** One part of an arrangement, as far as counting needs it: bytes [from, to). */
const countedPart = z.object({
  kind: z.enum(['header', 'content', 'ad', 'ident']),
  from: z.int().min(0),
  to: z.int().min(0),
  duration_ms: z.int().min(0),
  /** Only for ads. */
  ad: servedAdSchema.optional(),
});

/** What every fact about written bytes says of its request. No address and no user agent in clear. */
const servedBytes = {
  /** Stable across redeliveries: the request id and a sequence number. */
  fact_id: z.string(),
  request_id: z.string(),
  /** First byte of the request, RFC 3339. */
  started_at: z.string(),
  /** Time at which `written` was complete. */
  at: z.string(),
  workspace_id: z.string(),
  podcast_id: z.string(),
  episode_id: z.string(),
  method: z.string(),
  status: z.int(),
  /** The requested ranges, resolved against the length; the whole file without a Range header. */
  requested: z.array(byteInterval),
  /** The bytes that this fact adds; empty for HEAD and 304. */
  written: z.array(byteInterval),
  /** Length of the file. */
  total_bytes: z.int().min(0),
  published_at: z.string(),
  /** HMAC of address and user agent (docs/counting.md), hex. */
  listener_key: z.string(),
  /** The key under the previous secret, sent during the first 48 h of a period. */
  previous_listener_key: z.string().optional(),
  /** Keyed hash of the address with a daily key, for velocity rules; hex. */
  address_key: z.string(),
  address_verdict: z.enum(addressVerdicts),
  /** Present when the safe list holds the address: its volume has no limit (docs/counting.md, rule 16). */
  address_safe: z.boolean().optional(),
  /** SHA-256 (hex) of the user agent, or null without one. */
  user_agent_digest: z.string().nullable(),
  /** Sec-Purpose, Purpose or X-Moz announced a prefetch or preview. */
  prefetch: z.boolean(),
  /** The preload list holds the referrer, or its absence from this browser (docs/counting.md, rule 13). */
  preload: z.boolean(),
  /** Our own monitors, validators and previews (docs/counting.md, rule 14). */
  internal: z.boolean(),
  /** The web player that sent the request, by the list of referrers; the referrer itself is not stored. */
  web_player: z.string().optional(),
  /** ISO 3166-1 alpha-2 or "unknown". */
  country: z.string(),
  region: z.string(),
  lists_version: z.string(),
};

/**
 * Bytes of one response, as handed to the kernel (docs/counting.md). A long response has several facts with the same `request_id`; their
 * `written` intervals add up.
 */
export const byteRangeServedSchema = z.object({
  kind: z.literal('byte_range_served'),
  ...servedBytes,
  /** Of a play that somebody listens to: a preview is no fact (docs/adr/0119-a-preview-is-decided-dry.md). */
  arrangement_id: z.string().refine((id) => !isId(id, idPrefixes.preview), { message: 'A preview is never counted.' }),
  /** The arrangement, as far as counting needs it; repeated in each fact, so that facts alone can be recounted. */
  parts: z.array(countedPart),
  /** The token had expired. */
  late: z.boolean(),
});

/**
 * Bytes of a track of HLS, written below the token of a play or of one of its ads, as `byte_range_served` has those of an MP3. Intervals
 * are bytes of the track, initialization section included; `track_described` says which of them play when.
 */
export const mediaRangeServedSchema = z.object({
  kind: z.literal('media_range_served'),
  ...servedBytes,
  /** SHA-256 (hex) of the track: of the ad's track where `ad` is present. */
  track: z.string(),
  /** SHA-256 (hex) of the presentation that the play has: of the episode, for its ads too. */
  presentation: z.string(),
  /** The play whose token the request used. */
  play_id: z.string(),
  /**
   * The address under the daily key of the day on which the play was opened, hex; absent when that is `address_key`, and in late facts.
   * Requests of one play are compared by it (docs/counting.md#one-play-several-keys).
   */
  play_address_key: z.string().optional(),
  /** The ad that the track was served for; absent for the content. */
  ad: servedAdSchema.optional(),
  /** The play was opened 24 h ago or earlier. */
  late: z.boolean(),
});

/** Cells of one `track_described`: with 160 kB it is far from what a bus takes. */
export const maxCellsOfPart = 4_000;

/** One cell: offset and length in bytes of the track, start and duration in ticks. */
const trackCell = z.tuple([z.int().min(0), z.int().min(1), z.int().min(0), z.int().min(1)]);

/**
 * A track of which a process serves bytes for the first time, or one part of it: a track of more than `maxCellsOfPart` cells has several
 * facts, and all processes divide it alike. Only all parts together describe it. For a joined track it is the index of the whole virtual
 * file. Facts about the track's bytes may come before these, and these in any order.
 */
export const trackDescribedSchema = z.object({
  kind: z.literal('track_described'),
  fact_id: z.string(),
  at: z.string(),
  /** SHA-256 (hex) of the track. */
  track: z.string(),
  /** Only sound and pictures that play are credited; the pictures of `iframe` are for seeking. */
  media: z.enum(['audio', 'video', 'iframe']),
  /** Ticks per second. */
  timescale: z.int().min(1),
  /** This part of the cells, from 0, of `parts`. */
  part: z.int().min(0),
  parts: z.int().min(1),
  /** In order of time. */
  cells: z.array(trackCell).min(1).max(maxCellsOfPart),
});

/** What the facts about answers without media say; they are for support and forecasts and are never counted. */
const listedPlay = {
  fact_id: z.string(),
  at: z.string(),
  workspace_id: z.string(),
  podcast_id: z.string(),
  episode_id: z.string(),
  /** SHA-256 (hex) of the presentation. */
  presentation: z.string(),
  play_id: z.string(),
  listener_key: z.string(),
  user_agent_digest: z.string().nullable(),
};

/** A playlist of a play was served: no sign that anybody listens. */
const playlistServedSchema = z.object({
  kind: z.literal('playlist_served'),
  ...listedPlay,
  /** `main`, or the rendition whose media playlist it was. */
  which: z.string(),
});

/** The ads of a break were listed: neither an impression nor a sign that anybody listens. */
const assetListServedSchema = z.object({
  kind: z.literal('asset_list_served'),
  ...listedPlay,
  break_key: z.string(),
  /** The servings that the list names, in order; empty when nothing plays. */
  assets: z.array(z.string()),
});

/** A user agent that a process has seen for the first time; no other message contains the text. */
export const userAgentSeenSchema = z.object({
  kind: z.literal('user_agent_seen'),
  fact_id: z.string(),
  at: z.string(),
  user_agent_digest: z.string(),
  user_agent: z.string(),
});

/** Kinds of events that a player reports about an ad. */
export const deliveryEventKinds = [
  'loaded',
  'impression',
  'start',
  'first_quartile',
  'midpoint',
  'third_quartile',
  'complete',
  'progress',
  'pause',
  'resume',
  'mute',
  'unmute',
  'skip',
  'click',
  'error',
  'companion_view',
] as const;

/**
 * A player's own report about an ad, sent to a signed address. Everything but kind and sequence comes from the token and the stored
 * decision. Reports are never added to delivered ads.
 */
const deliveryEventSchema = z.object({
  kind: z.literal('delivery_event'),
  /** Derived from serving, event and sequence, so that a repetition is the same fact. */
  fact_id: z.string(),
  serving_id: z.string(),
  event: z.enum(deliveryEventKinds),
  /** 0 unless the player counts repetitions. */
  sequence: z.int().min(0),
  /** Time of the first reception. */
  at: z.string(),
  /** Time of the event by the player's clock, if it sent one. */
  reported_at: z.string().optional(),
  /** The token had expired. */
  late: z.boolean(),
  workspace_id: z.string(),
  podcast_id: z.string(),
  episode_id: z.string(),
  campaign_id: z.string(),
  line_item_id: z.string(),
  creative_id: z.string(),
  break_key: z.string(),
  slot: z.int().min(0),
  /** Duration of the ad, which bounds how often some kinds can happen; absent when it is unknown. */
  ad_duration_ms: z.int().min(0).optional(),
  listener_key: z.string(),
  address_verdict: z.enum(addressVerdicts),
  user_agent_digest: z.string().nullable(),
  country: z.string(),
  region: z.string(),
  lists_version: z.string(),
});

/** Id of a report's fact: every repetition of an event of a serving has the same one. */
export function deliveryEventFactId(servingId: string, event: string, sequence: number): string {
  const name = [servingId, event, sequence].join('\n');
  return idFromBytes('fct', createHash('sha256').update(name).digest().subarray(0, 16));
}

export const deliveryFactSchema = z.discriminatedUnion('kind', [
  byteRangeServedSchema,
  userAgentSeenSchema,
  deliveryEventSchema,
  mediaRangeServedSchema,
  trackDescribedSchema,
  playlistServedSchema,
  assetListServedSchema,
]);

/**
 * A producer's statement that it has published all its facts up to a time. It goes to every part of the topic, after these facts: a reader
 * of the statement has read the producer's facts in that part.
 */
export const factsPublishedSchema = z.object({
  kind: z.literal('facts_published'),
  /** Names a journal of facts; a restart keeps the name. */
  producer: z.string().min(1),
  /** By the producer's clock, like `at` of its facts. */
  until: z.iso.datetime(),
  /** The producer has shut down with nothing left to publish. It starts again with a statement that has not ended. */
  ended: z.boolean(),
  /** This part of the topic, from 0, of `parts`. */
  part: z.int().min(0),
  parts: z.int().min(1),
});

/** A message on the topic of facts. */
export const factMessageSchema = z.discriminatedUnion('kind', [...deliveryFactSchema.options, factsPublishedSchema]);

export type ByteRangeServed = z.infer<typeof byteRangeServedSchema>;
export type MediaRangeServed = z.infer<typeof mediaRangeServedSchema>;
export type TrackDescribed = z.infer<typeof trackDescribedSchema>;
export type DeliveryEvent = z.infer<typeof deliveryEventSchema>;
export type DeliveryEventKind = DeliveryEvent['event'];
export type UserAgentSeen = z.infer<typeof userAgentSeenSchema>;
export type DeliveryFact = z.infer<typeof deliveryFactSchema>;
export type FactsPublished = z.infer<typeof factsPublishedSchema>;
export type CountedPart = z.infer<typeof countedPart>;
