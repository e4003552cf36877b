import { z } from 'zod';

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
  ad: z
    .object({
      serving_id: z.string(),
      campaign_id: z.string(),
      line_item_id: z.string(),
      creative_id: z.string(),
      break_key: z.string(),
      slot: z.int().min(0),
    })
    .optional(),
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
  /** SHA-256 (hex) of the user agent (D3), or null when none was sent. */
  user_agent_digest: z.string().nullable(),
  /** Sec-Purpose, Purpose or X-Moz announced a prefetch or preview. */
  prefetch: z.boolean(),
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

export const deliveryFactSchema = z.discriminatedUnion('kind', [byteRangeServedSchema, userAgentSeenSchema]);

export type ByteRangeServed = z.infer<typeof byteRangeServedSchema>;
export type UserAgentSeen = z.infer<typeof userAgentSeenSchema>;
export type DeliveryFact = z.infer<typeof deliveryFactSchema>;
export type CountedPart = z.infer<typeof countedPart>;
