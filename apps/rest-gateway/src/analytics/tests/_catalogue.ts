import { userAgentDigest } from '@longwave/audience';
import type { ByteRangeServed, DeliveryFact, ResourceView } from '@longwave/events';

export const idOf = (prefix: string, name: string) => `${prefix}_${name.padStart(26, '0')}`;
export const own = idOf('ws', '1');
export const organization = idOf('ws', '2');
export const [arts, comedy, draft, news] = ['a', 'b', 'c', 'd'].map((name) => idOf('pod', name)) as [
  string,
  string,
  string,
  string,
];
const [first, second, unfinished, archived, joke, story, hidden, lost] = ['1', '2', '3', '4', '5', '6', '7', '8'].map(
  (name) => idOf('ep', name),
) as [string, string, string, string, string, string, string, string];
export { archived, first, hidden, lost, second, story, unfinished };

/** A resource as management shows it. */
export function resource(
  type: string,
  id: string,
  given: { workspace?: string; state: string; created?: string; attributes: object },
): ResourceView {
  const { podcast_id: podcastId } = given.attributes as { podcast_id?: string };
  return {
    resource_type: type,
    id,
    workspace_id: given.workspace ?? own,
    version: 1,
    lifecycle_state: given.state,
    attributes: { ...given.attributes },
    links: podcastId === undefined ? {} : { podcast: podcastId },
    digest: 'd'.repeat(64),
    created_at: given.created ?? '2026-07-20T09:00:00.000Z',
    updated_at: '2026-11-20T00:00:00.000Z',
    updated_by: { operation_id: idOf('op', '1') },
  };
}

const podcast = (id: string, title: string, categories: string[], more: object = {}) =>
  resource('podcasts', id, { state: 'published', attributes: { title, categories }, ...more });
const episode = (id: string, podcastId: string, title: string, publishedAt?: string, more: object = {}) =>
  resource('episodes', id, {
    state: publishedAt ? 'published' : 'draft',
    attributes: {
      podcast_id: podcastId,
      title,
      ...(publishedAt && { published_at: publishedAt, duration_ms: 120_000 }),
    },
    ...more,
  });

/** Two published podcasts and a draft of one account, and one of an organization. */
export const catalogue: readonly ResourceView[] = [
  podcast(arts, 'Harbour Light', ['Arts', 'Comedy']),
  podcast(comedy, 'Gulls', ['Comedy'], { created: '2026-11-01T00:00:00.000Z' }),
  podcast(draft, 'Fog', [], { state: 'draft' }),
  podcast(news, 'Tide Table', ['News'], { workspace: organization, created: '2026-06-01T00:00:00.000Z' }),
  episode(first, arts, 'First light', '2026-08-10T06:00:00.000Z'),
  episode(second, arts, 'Second light', '2026-11-10T17:45:00.000Z'),
  episode(unfinished, arts, 'Dusk'),
  episode(archived, arts, 'Old light', '2026-08-01T00:00:00.000Z', { state: 'archived' }),
  episode(hidden, draft, 'Mist', '2026-11-02T00:00:00.000Z'),
  episode(joke, comedy, 'Squawk', '2026-11-02T00:00:00.000Z'),
  episode(story, news, 'High water', '2026-06-02T00:00:00.000Z', { workspace: organization }),
];

const agent = 'Overcast/3.0 (+http://overcast.fm/; iOS podcast app)';

const content = (from: number): ByteRangeServed['parts'][number] => ({
  kind: 'content',
  from,
  to: 1_920_000,
  duration_ms: (1_920_000 - from) / 16,
});

/** An ad of 10 s before the content. */
const withAd = (nth: number): ByteRangeServed['parts'] => [
  {
    ...{ kind: 'ad', from: 0, to: 160_000, duration_ms: 10_000 },
    ad: {
      ...{ serving_id: `srv_${nth}`, campaign_id: 'cmp_1', line_item_id: 'li_1', creative_id: 'crv_1' },
      ...{ break_key: 'pre', slot: 0, billable: true },
    },
  },
  content(160_000),
];

function download(
  nth: number,
  [podcastId, episodeId, startedAt, listener, country, ad]: readonly string[],
): ByteRangeServed {
  return {
    kind: 'byte_range_served',
    fact_id: `fct_${nth}`,
    request_id: `req_${nth}`,
    started_at: startedAt!,
    at: startedAt!,
    workspace_id: podcastId === news ? organization : own,
    podcast_id: podcastId!,
    episode_id: episodeId!,
    arrangement_id: 'arr_1',
    method: 'GET',
    status: 200,
    requested: [[0, 1_920_000]],
    written: [[0, 1_920_000]],
    total_bytes: 1_920_000,
    parts: ad === undefined ? [content(0)] : withAd(nth),
    published_at: '2026-06-01T00:00:00.000Z',
    listener_key: listener!,
    address_key: 'address',
    address_verdict: 'ok',
    user_agent_digest: userAgentDigest(agent),
    prefetch: false,
    preload: false,
    internal: false,
    country: country!,
    region: 'unknown',
    late: false,
    lists_version: '1',
  };
}

const downloads = [
  [arts, first, '2026-08-15T10:00:00.000Z', 'anna', 'DE'],
  [arts, first, '2026-09-10T10:00:00.000Z', 'anna', 'DE'],
  [arts, first, '2026-09-11T10:00:00.000Z', 'bert', 'US'],
  [arts, first, '2026-10-03T10:00:00.000Z', 'anna', 'DE'],
  [arts, first, '2026-10-04T10:00:00.000Z', 'bert', 'DE'],
  [arts, first, '2026-10-05T10:00:00.000Z', 'carl', 'FR'],
  [arts, archived, '2026-10-06T10:00:00.000Z', 'anna', 'DE'],
  [arts, second, '2026-11-10T18:00:00.000Z', 'anna', 'DE', 'ad'],
  [arts, second, '2026-11-11T09:30:00.000Z', 'bert', 'US', 'ad'],
  [arts, first, '2026-11-20T23:30:00.000Z', 'carl', 'DE'],
  [comedy, joke, '2026-11-19T10:00:00.000Z', 'anna', 'DE', 'ad'],
  // The same person under the key of another month.
  [comedy, joke, '2026-10-28T10:00:00.000Z', 'anna_in_october', 'DE'],
  [news, story, '2026-07-01T10:00:00.000Z', 'dora', 'AT'],
  // Management knows nothing of this episode.
  [news, lost, '2026-10-09T10:00:00.000Z', 'dora', 'AT'],
  [news, story, '2026-11-18T10:00:00.000Z', 'dora', 'AT'],
].map((row, nth) => download(nth, row));
/** A download that comes after all others: its hour was closed long before. 23 h after the same listener's download of the day before. */
export const lateFact: DeliveryFact = download(downloads.length, [
  news,
  story,
  '2026-07-02T09:00:00.000Z',
  'dora',
  'AT',
]);
/** Fifteen downloads. */
export const facts: readonly DeliveryFact[] = [
  {
    kind: 'user_agent_seen',
    fact_id: 'seen',
    at: '2026-08-01T00:00:00.000Z',
    user_agent: agent,
    user_agent_digest: userAgentDigest(agent)!,
  },
  ...downloads,
];
