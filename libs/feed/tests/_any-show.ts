import { appleCategories, episodes, podcasts } from '@longwave/command-catalog';
import fc from 'fast-check';
import type { z } from 'zod';

/** Podcasts and episodes with every attribute that a feed shows, each of them as wild as the catalog allows. */

const characters = fc.oneof(
  fc.constantFrom('&', '<', '>', '"', "'", ']]>', 'ä', '😀', '\u200d', ' '),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
);
const text = (maxLength: number) => fc.string({ unit: characters, minLength: 1, maxLength });
const url = fc.webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ['https', 'http'] });
const optional = { requiredKeys: [] as never[] };
const email = fc.emailAddress();

const person = fc.record(
  { name: text(40), role: text(20), group: text(20), image_url: url, link: url },
  { requiredKeys: ['name'] },
);
const location = fc.record(
  { name: text(40), geo: fc.constantFrom('geo:1,2', 'geo:-30.2672,97.7431,7;u=3'), osm: fc.constantFrom('R1', 'W99') },
  { requiredKeys: ['name'] },
);
const license = fc.record({ id: text(20), url }, { requiredKeys: ['id'] });
const remoteItem = fc.record(
  { feed_guid: fc.uuid(), feed_url: url, item_guid: text(30), title: text(30) },
  { requiredKeys: ['feed_guid'] },
);
const recipient = fc.record(
  {
    name: text(20),
    type: text(10),
    address: text(60),
    custom_key: fc.string({ unit: characters, maxLength: 10 }),
    custom_value: fc.string({ unit: characters, maxLength: 10 }),
    split: fc.nat(),
    fee: fc.boolean(),
  },
  { requiredKeys: ['type', 'address', 'split'] },
);
const value = fc.record(
  {
    type: text(10),
    method: text(10),
    suggested: fc.constantFrom('0', '0.00000015'),
    recipients: fc.array(recipient, { minLength: 1, maxLength: 3 }),
    time_splits: fc.array(
      fc.record(
        {
          start_ms: fc.nat(10_000_000),
          duration_ms: fc.integer({ min: 1, max: 100_000 }),
          remote_start_ms: fc.nat(10_000_000),
          remote_percentage: fc.integer({ min: 0, max: 100 }),
          remote_item: remoteItem,
          recipients: fc.array(recipient, { minLength: 1, maxLength: 2 }),
        },
        { requiredKeys: ['start_ms', 'duration_ms', 'remote_item'] },
      ),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: ['type', 'method', 'recipients'] },
);
const few = <T>(of: fc.Arbitrary<T>) => fc.array(of, { maxLength: 3 });

const texts = {
  summary: fc.string({ unit: characters, maxLength: 200 }),
  subtitle: text(80),
  keywords: few(text(20)),
};

const podcast = fc
  .record(
    {
      ...texts,
      managing_editor: text(80),
      author: text(80),
      owner_name: text(80),
      owner_email: email,
      link: url,
      copyright: text(80),
      medium: fc.constantFrom('podcast', 'music', 'audiobook', 'newsletter'),
      funding: few(fc.record({ url, text: text(40) })),
      persons: few(person),
      location,
      license,
      texts: few(fc.record({ purpose: text(20), value: text(200) }, { requiredKeys: ['value'] })),
      update_frequency: fc.record(
        {
          text: text(40),
          complete: fc.boolean(),
          rrule: text(40),
          start: fc.constantFrom('2026-11-21T00:00:00Z', '2026-11-21T00:00:00.000Z'),
        },
        { requiredKeys: ['text'] },
      ),
      blocked_platforms: few(fc.stringMatching(/^[a-z0-9._-]{1,64}$/)),
      podroll: few(remoteItem),
      publisher: fc.record({ feed_guid: fc.uuid(), feed_url: url }, { requiredKeys: ['feed_guid'] }),
      value,
      chat: fc.record(
        { server: text(30), protocol: text(10), account_id: text(20), space: text(20) },
        { requiredKeys: ['server', 'protocol'] },
      ),
    },
    optional,
  )
  .chain((settings) =>
    fc.record({
      title: text(255),
      description: fc.string({ unit: characters, maxLength: 1000 }),
      language: fc.constantFrom('en', 'pt-BR', 'zh-Hant-TW'),
      categories: fc.uniqueArray(fc.constantFrom(...appleCategories), { maxLength: 3 }),
      explicit: fc.boolean(),
      type: fc.constantFrom('episodic', 'serial'),
      locked: fc.boolean(),
      loudness_target_lufs: fc.constant(-16),
      subdomain: fc.constant('show'),
      podcast_guid: fc.uuid(),
      ...Object.fromEntries(Object.entries(settings).map(([key, each]) => [key, fc.constant(each)])),
    }),
  );

const episode = fc.record(
  {
    title: text(255),
    type: fc.constantFrom('full', 'trailer', 'bonus'),
    podcast_id: fc.constant('pod_01kagw3hmzbqkc3mn4g6vqz0t7'),
    guid: text(255),
    description: fc.string({ unit: characters, maxLength: 1000 }),
    season: fc.integer({ min: 1, max: 9999 }),
    number: fc.integer({ min: 1, max: 99999 }),
    explicit: fc.boolean(),
    link: url,
    persons: few(person),
    location,
    license,
    soundbites: few(
      fc.record(
        { start_ms: fc.nat(10_000_000), duration_ms: fc.integer({ min: 1, max: 120_000 }), title: text(40) },
        { requiredKeys: ['start_ms', 'duration_ms'] },
      ),
    ),
    social_interact: few(
      fc.record(
        {
          protocol: fc.constantFrom('disabled', 'activitypub', 'nostr', 'atproto'),
          uri: text(60),
          account_id: text(20),
          account_url: url,
          priority: fc.integer({ min: 1, max: 100 }),
        },
        { requiredKeys: ['protocol'] },
      ),
    ),
    value,
    ...texts,
    author: text(80),
    blocked: fc.boolean(),
    alternate_enclosures: few(
      fc.record(
        {
          content_type: fc.constantFrom('video/mp4', 'audio/opus', 'application/x-mpegURL'),
          size_bytes: fc.nat(),
          bitrate: fc.integer({ min: 1, max: 10_000_000 }),
          height: fc.constantFrom(720, 1080),
          language: fc.constantFrom('en', 'pt-BR'),
          title: text(40),
          rel: text(20),
          codecs: text(20),
          default: fc.boolean(),
          integrity: fc.record({ type: fc.constantFrom('sri', 'pgp-signature'), value: text(60) }),
          sources: fc.array(fc.record({ uri: url, content_type: text(20) }, { requiredKeys: ['uri'] }), {
            minLength: 1,
            maxLength: 2,
          }),
        },
        { requiredKeys: ['content_type', 'sources'] },
      ),
    ),
  },
  { requiredKeys: ['title', 'type', 'podcast_id', 'guid'] },
);

/** The value as the catalog parses it, without what it refuses. */
const accepted = <S extends z.ZodType>(of: fc.Arbitrary<unknown>, schema: S): fc.Arbitrary<z.output<S>> =>
  of
    .map((raw) => schema.safeParse(raw))
    .filter((parsed) => parsed.success)
    .map((parsed) => parsed.data!);

export const anyPodcast = accepted(podcast, podcasts.attributes);
export const anyEpisode = accepted(episode, episodes.attributes);
