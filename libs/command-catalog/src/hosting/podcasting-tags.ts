import { z } from 'zod';
import { languageTag, shortText, webUrl } from '../fields.ts';

/** Fields of the Podcasting 2.0 namespace; names and bounds are the namespace's own. */

const tagText = shortText.refine((text) => text.length <= 128, { message: 'At most 128 characters are allowed.' });
const urn = z.string().min(1).max(2000);

/** Tag person: a speaker, or another contributor. */
export const persons = z
  .array(
    z.strictObject({
      name: tagText,
      /** Role of the podcast taxonomy, lower case: "host", "guest", … */
      role: tagText.optional(),
      group: tagText.optional(),
      image_url: webUrl.optional(),
      link: webUrl.optional(),
    }),
  )
  .max(50);

/** Tag funding. */
export const funding = z.array(z.strictObject({ url: webUrl, text: tagText })).max(5);

/** Tag location: a place that the content is about. */
export const location = z.strictObject({
  name: tagText,
  /** RFC 5870 geo URI. */
  geo: z
    .string()
    .regex(/^geo:-?\d/)
    .max(255)
    .optional(),
  /** OpenStreetMap object, "R113314". */
  osm: z
    .string()
    .regex(/^[NWR]\d{1,20}$/)
    .optional(),
});

/** Tag license: an SPDX identifier, or a name with a URL. */
export const license = z.strictObject({ id: tagText, url: webUrl.optional() });

/** Tag txt: proofs of ownership. */
export const texts = z
  .array(z.strictObject({ purpose: tagText.optional(), value: z.string().trim().min(1).max(4000) }))
  .max(10);

/** Tag updateFrequency. */
export const updateFrequency = z.strictObject({
  text: tagText,
  complete: z.boolean().optional(),
  /** RFC 5545 recurrence rule. */
  rrule: z.string().min(1).max(255).optional(),
  start: z.iso.datetime().optional(),
});

/** Tag block: directories that must not list the podcast; "all" is every one. */
export const blockedPlatforms = z.array(z.string().regex(/^[a-z0-9._-]{1,64}$/)).max(50);

const remoteItem = z.strictObject({
  feed_guid: z.uuid(),
  feed_url: webUrl.optional(),
  item_guid: z.string().min(1).max(255).optional(),
  title: tagText.optional(),
});

/** Tag podroll: podcasts that this one recommends. */
export const podroll = z.array(remoteItem).max(50);

/** Tag publisher: the feed of the publisher. */
export const publisher = remoteItem.pick({ feed_guid: true, feed_url: true });

const recipient = z.strictObject({
  name: tagText.optional(),
  type: z.string().min(1).max(64),
  address: urn,
  custom_key: z.string().max(255).optional(),
  custom_value: z.string().max(255).optional(),
  split: z.int().min(0),
  fee: z.boolean().optional(),
});

/** Tags value, valueRecipient and valueTimeSplit. Times are those of the file without intro and ads. */
export const value = z.strictObject({
  type: z.string().min(1).max(64),
  method: z.string().min(1).max(64),
  suggested: z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .max(32)
    .optional(),
  recipients: z.array(recipient).min(1).max(20),
  time_splits: z
    .array(
      z.strictObject({
        start_ms: z.int().min(0),
        duration_ms: z.int().min(1),
        remote_start_ms: z.int().min(0).optional(),
        remote_percentage: z.int().min(0).max(100).optional(),
        remote_item: remoteItem.optional(),
        recipients: z.array(recipient).max(20).optional(),
      }),
    )
    .max(200)
    .optional(),
});

/** Tag alternateEnclosure: the same episode in another form, on other hosts. */
export const alternateEnclosures = z
  .array(
    z.strictObject({
      content_type: z.string().min(1).max(128),
      size_bytes: z.int().min(0).optional(),
      bitrate: z.number().min(0).optional(),
      height: z.int().min(0).optional(),
      language: languageTag.optional(),
      title: tagText.optional(),
      rel: tagText.optional(),
      codecs: z.string().min(1).max(255).optional(),
      default: z.boolean().optional(),
      integrity: z
        .strictObject({ type: z.enum(['sri', 'pgp-signature']), value: z.string().min(1).max(2000) })
        .optional(),
      sources: z
        .array(z.strictObject({ uri: urn, content_type: z.string().min(1).max(128).optional() }))
        .min(1)
        .max(20),
    }),
  )
  .max(20);

/** Tag trailer with a file on another host. Trailers that are episodes are made from these. */
export const trailers = z
  .array(
    z.strictObject({
      title: tagText,
      url: webUrl,
      published_at: z.iso.datetime(),
      content_type: z.string().min(1).max(128).optional(),
      size_bytes: z.int().min(0).optional(),
      season: z.int().min(1).max(9999).optional(),
    }),
  )
  .max(20);

/** Keywords of a podcast or an episode (itunes:keywords). */
export const keywords = z
  .array(tagText.refine((word) => !word.includes(','), { message: 'Leave commas out.' }))
  .max(50);

/** Tag socialInteract: where an episode is discussed. */
export const socialInteract = z
  .array(
    z.strictObject({
      protocol: z.enum(['disabled', 'activitypub', 'twitter', 'lightning', 'atproto', 'hive', 'nostr']),
      uri: urn.optional(),
      account_id: tagText.optional(),
      account_url: webUrl.optional(),
      priority: z.int().min(1).max(100).optional(),
    }),
  )
  .max(10);

/** Tag chat. */
export const chat = z.strictObject({
  server: z.string().min(1).max(255),
  protocol: z.string().min(1).max(64),
  account_id: tagText.optional(),
  space: z.string().min(1).max(255).optional(),
});

/** Tag medium. */
export const medium = z.enum(['podcast', 'music', 'audiobook', 'newsletter']);

/** Tag soundbite: part of an episode worth a trailer. */
export const soundbites = z
  .array(
    z.strictObject({
      start_ms: z.int().min(0),
      duration_ms: z.int().min(1).max(120_000),
      title: tagText.optional(),
    }),
  )
  .max(20);
