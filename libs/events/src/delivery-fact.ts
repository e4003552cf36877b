import { createHash } from 'node:crypto';
import { idFromBytes } from '@longwave/ids';
import { z } from 'zod';
import { servedAdSchema } from './served-ad.ts';

/** Why a request cannot count, decided where the address is known (measurement.md D4 rule 12). */
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

/**
 * Bytes of one response, as handed to the kernel (measurement.md D1). A long response is reported in several facts
 * of the same `request_id`; their `written` intervals add up. No address and no user agent in clear.
 */
export const byteRangeServedSchema = z.object({
  kind: z.literal('byte_range_served'),
  /** Stable across redeliveries: the request id and a sequence number. */
  fact_id: z.string(),
  request_id: z.string(),
  /** First byte of the request, RFC 3339. */
  started_at: z.string(),
  /** When `written` was complete. */
  at: z.string(),
  workspace_id: z.string(),
  podcast_id: z.string(),
  episode_id: z.string(),
  arrangement_id: z.string(),
  method: z.string(),
  status: z.int(),
  /** What the client asked for, resolved against the length; the whole file when no Range was sent. */
  requested: z.array(byteInterval),
  /** What this fact adds; empty for HEAD and 304. */
  written: z.array(byteInterval),
  total_bytes: z.int().min(0),
  /** Everything counting must know of the arrangement; repeated in each fact so that facts alone can be recounted. */
  parts: z.array(countedPart),
  published_at: z.string(),
  /** HMAC of address and user agent (D5), hex. */
  listener_key: z.string(),
  /** The key under the previous secret, sent during the first 48 h of a period. */
  previous_listener_key: z.string().optional(),
  /** Keyed hash of the address with a daily key, for velocity rules; hex. */
  address_key: z.string(),
  address_verdict: z.enum(addressVerdicts),
  /** Sent when the safe list holds the address: rule 16 then sets its volume no limit. */
  address_safe: z.boolean().optional(),
  /** SHA-256 (hex) of the user agent (D3), or null when none was sent. */
  user_agent_digest: z.string().nullable(),
  /** Sec-Purpose, Purpose or X-Moz announced a prefetch or preview. */
  prefetch: z.boolean(),
  /** The referrer, or its absence from this browser, is on the preload list (D4 rule 13). */
  preload: z.boolean(),
  /** Our own monitors, validators and previews (D4 rule 14). */
  internal: z.boolean(),
  /** The web player whose page asked, by the list of referrers; the referrer itself is kept nowhere. */
  web_player: z.string().optional(),
  /** ISO 3166-1 alpha-2 or "unknown". */
  country: z.string(),
  region: z.string(),
  /** The token had expired; the fact is kept, tagged. */
  late: z.boolean(),
  lists_version: z.string(),
});

/** A user agent seen for the first time by this process; the only place its text travels. */
export const userAgentSeenSchema = z.object({
  kind: z.literal('user_agent_seen'),
  fact_id: z.string(),
  at: z.string(),
  user_agent_digest: z.string(),
  user_agent: z.string(),
});

/** Kinds of delivery events (design: delivery.md, Events). */
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
 * A player's own report of an ad (measurement.md D11), from a signed address. Everything but kind and sequence comes from the token
 * and from what was stored with the decision; nothing of it is added to delivered ads.
 */
const deliveryEventSchema = z.object({
  kind: z.literal('delivery_event'),
  /** Follows from serving, event and sequence, so that a repetition is the same fact. */
  fact_id: z.string(),
  serving_id: z.string(),
  event: z.enum(deliveryEventKinds),
  /** 0 unless the player counts repetitions. */
  sequence: z.int().min(0),
  /** When it was received first. */
  at: z.string(),
  /** When it happened by the player's clock, if it said so. */
  reported_at: z.string().optional(),
  /** Received after the life of its token. */
  late: z.boolean(),
  workspace_id: z.string(),
  podcast_id: z.string(),
  episode_id: z.string(),
  campaign_id: z.string(),
  line_item_id: z.string(),
  creative_id: z.string(),
  break_key: z.string(),
  slot: z.int().min(0),
  /** Playing time of the ad, which bounds how often some kinds can happen. Absent where nobody told it. */
  ad_duration_ms: z.int().min(0).optional(),
  listener_key: z.string(),
  address_verdict: z.enum(addressVerdicts),
  user_agent_digest: z.string().nullable(),
  country: z.string(),
  region: z.string(),
  lists_version: z.string(),
});

/** Id of a report's fact: the same for every repetition of an event of a serving, whoever brings it. */
export function deliveryEventFactId(servingId: string, event: string, sequence: number): string {
  const name = [servingId, event, sequence].join('\n');
  return idFromBytes('fct', createHash('sha256').update(name).digest().subarray(0, 16));
}

export const deliveryFactSchema = z.discriminatedUnion('kind', [
  byteRangeServedSchema,
  userAgentSeenSchema,
  deliveryEventSchema,
]);

/**
 * A producer's word that it has published all its facts up to a time. It goes to every part of the topic, behind these facts, so whoever
 * reads it has read the producer's facts in this part.
 */
export const factsPublishedSchema = z.object({
  kind: z.literal('facts_published'),
  /** One journal of facts: the same after a restart. */
  producer: z.string().min(1),
  /** By the producer's clock, as `at` of its facts. */
  until: z.iso.datetime(),
  /** The producer has ended in good order: it has nothing left to publish, and begins anew with a word that is not the last. */
  ended: z.boolean(),
  /** Which part of the topic this is, from 0, and of how many. */
  part: z.int().min(0),
  parts: z.int().min(1),
});

/** Whatever travels on the topic of facts. */
export const factMessageSchema = z.discriminatedUnion('kind', [...deliveryFactSchema.options, factsPublishedSchema]);

export type ByteRangeServed = z.infer<typeof byteRangeServedSchema>;
export type DeliveryEvent = z.infer<typeof deliveryEventSchema>;
export type DeliveryEventKind = DeliveryEvent['event'];
export type UserAgentSeen = z.infer<typeof userAgentSeenSchema>;
export type DeliveryFact = z.infer<typeof deliveryFactSchema>;
export type FactsPublished = z.infer<typeof factsPublishedSchema>;
export type CountedPart = z.infer<typeof countedPart>;
