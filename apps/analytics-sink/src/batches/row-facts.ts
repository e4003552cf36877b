import { createHash } from 'node:crypto';
import { classifyFact, keyMonths, servedBytesOf, userAgentDigest } from '@longwave/audience';
import {
  deliveryEventFactId,
  type ByteRangeServed,
  type CountedPart,
  type DeliveryEvent,
  type MediaRangeServed,
  type UserAgentSeen,
} from '@longwave/events';
import type { BatchRow, RowOf } from './batch.ts';

/** The layout of the arrangement, track or serving that a row names, from our own facts. */
export interface KnownLayout {
  readonly arrangementId: string;
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly publishedAt: Date;
  readonly totalBytes: number;
  /** In byte order; its fields in the order of the fact's schema, on which the layout's digest depends. */
  readonly parts: readonly CountedPart[];
}

/** A row about written bytes, of an MP3 or of a track of HLS. */
type BytesRow = RowOf<'byte_range_served' | 'media_range_served'>;

/** Why an accepted row is rejected. */
export const rejectionCodes = [
  'other_episode',
  'other_arrangement',
  'unknown_part',
  'outside',
  'other_listener',
  'claim_changed',
] as const;
export type RejectionCode = (typeof rejectionCodes)[number];

type UserAgentVerdict = BytesRow['user_agent_verdict'];

/**
 * User agents that stand for the verdicts of producers: the lists give each text the verdict of its name, and no app or device. A test
 * compares them.
 */
export const declaredUserAgents: Readonly<Record<Exclude<UserAgentVerdict, 'no_ua'>, string>> = {
  ok: 'producer',
  watch: 'atc/producer watchOS',
  scout: 'Podcasts/producer Scout/producer',
  bot_ua: 'bot',
  malformed_ua: '-',
};

const digestOf = (verdict: UserAgentVerdict) =>
  verdict === 'no_ua' ? null : userAgentDigest(declaredUserAgents[verdict]);

/** The user agents that stand for the verdicts of these rows. */
export function declaredUserAgentsSeen(rows: readonly BatchRow[]): UserAgentSeen[] {
  const verdicts = new Set(rows.flatMap((row) => ('user_agent_verdict' in row ? [row.user_agent_verdict] : [])));
  return [...verdicts].flatMap((verdict) => {
    const digest = digestOf(verdict);
    if (verdict === 'no_ua' || digest === null) return [];
    return {
      kind: 'user_agent_seen' as const,
      fact_id: `declared:${verdict}`,
      at: new Date(0).toISOString(),
      user_agent_digest: digest,
      user_agent: declaredUserAgents[verdict],
    };
  });
}

/** The key of a producer's listener: the same bucket of two producers gives two listeners, and neither is one of ours. */
const listenerOf = (producer: string, listener: string) =>
  createHash('sha256').update(`${producer}\n${listener}`).digest('hex').slice(0, 32);

/** A region without its country, as facts have it. */
const regionOf = (region: string) => (region === 'unknown' ? region : region.slice(region.indexOf('-') + 1));

const rfc3339 = (text: string) => new Date(text).toISOString();

/** The bytes of the arrangement that a row reports, or why they cannot exist. */
function writtenBytes(
  { part, from, to }: RowOf<'byte_range_served'>,
  { parts, totalBytes }: KnownLayout,
): readonly [number, number] | RejectionCode {
  if (part === undefined) return to <= totalBytes ? [from, to] : 'outside';
  const within = parts[part];
  if (!within) return 'unknown_part';
  return within.from + to <= within.to ? [within.from + from, within.from + to] : 'outside';
}

/** The same parts without ads: nothing is delivered, and their time still counts. */
const withoutAds = (parts: readonly CountedPart[]): CountedPart[] =>
  parts.map(({ ad, ...part }) => (ad ? { ...part, kind: 'ident' } : part));

const bytesFactId = (producer: string, row: BytesRow) =>
  `batch:${createHash('sha256')
    .update(`${producer}\n${JSON.stringify(row)}`)
    .digest('hex')}`;

/** Id of the fact that a row becomes, from the row alone, in whatever batch it comes; undefined for rows that become no fact. */
export function rowFactId(producer: string, row: BatchRow): string | undefined {
  if (row.kind === 'byte_range_served' || row.kind === 'media_range_served') return bytesFactId(producer, row);
  return row.kind === 'delivery_event' ? deliveryEventFactId(row.serving_id, row.event, row.seq) : undefined;
}

/** The fields that facts of an MP3 and of HLS share. */
function servedBytes(producer: string, row: BytesRow, layout: KnownLayout, written: readonly [number, number]) {
  return {
    fact_id: bytesFactId(producer, row),
    request_id: `${producer}/${row.request}`,
    started_at: rfc3339(row.started_at),
    at: rfc3339(row.at),
    workspace_id: row.workspace,
    podcast_id: row.podcast,
    episode_id: row.episode,
    method: 'GET',
    status: row.status,
    requested: [[...written]],
    written: [[...written]],
    total_bytes: layout.totalBytes,
    published_at: layout.publishedAt.toISOString(),
    listener_key: listenerOf(producer, row.listener),
    // The address is unknown, so the bucket stands for it.
    address_key: listenerOf(producer, row.listener),
    address_verdict: row.address_verdict,
    user_agent_digest: digestOf(row.user_agent_verdict),
    prefetch: row.prefetch,
    preload: false,
    internal: false,
    country: row.country,
    region: regionOf(row.region),
    late: false,
    lists_version: `declared by ${producer}`,
  } satisfies Partial<ByteRangeServed>;
}

/** The link of a row to the bucket under the previous salt: only an eligible row of the first 48 h of a month may link two buckets. */
function previousKey(producer: string, row: BytesRow, fact: ByteRangeServed | MediaRangeServed) {
  const { user_agent_verdict: agent, previous_listener: previous } = row;
  const isInTime = keyMonths(new Date(row.started_at)).previous !== undefined;
  const isLink =
    previous !== undefined && isInTime && agent !== 'no_ua' && classifyFact(servedBytesOf(fact), agent) === 'eligible';
  return isLink ? { previous_listener_key: listenerOf(producer, previous) } : {};
}

/** The fact that `public-delivery` would have reported of the same bytes. */
export function byteRangeFact(
  producer: string,
  row: RowOf<'byte_range_served'>,
  layout: KnownLayout,
): ByteRangeServed | RejectionCode {
  if (layout.podcastId !== row.podcast || layout.episodeId !== row.episode) return 'other_episode';
  if (layout.arrangementId !== row.arrangement) return 'other_arrangement';
  const written = writtenBytes(row, layout);
  if (typeof written === 'string') return written;
  const fact: ByteRangeServed = {
    kind: 'byte_range_served',
    ...servedBytes(producer, row, layout, written),
    arrangement_id: row.arrangement,
    parts: row.serving_id === undefined ? withoutAds(layout.parts) : [...layout.parts],
  };
  return { ...fact, ...previousKey(producer, row, fact) };
}

/**
 * A producer's play. Each bucket has plays of its own, so that none joins two buckets: by what a play joins keys, the address and the user
 * agent, only the producer knows (docs/counting.md#one-play-several-keys).
 */
const playOf = (producer: string, { play, listener }: RowOf<'media_range_served'>) =>
  createHash('sha256').update(`${producer}\n${play}\n${listener}`).digest('hex').slice(0, 32);

/** The fact that `public-delivery` would have reported of the same bytes of a track. */
export function mediaRangeFact(
  producer: string,
  row: RowOf<'media_range_served'>,
  layout: KnownLayout,
): MediaRangeServed | RejectionCode {
  if (layout.podcastId !== row.podcast || layout.episodeId !== row.episode) return 'other_episode';
  if (row.to > layout.totalBytes) return 'outside';
  const ad = layout.parts[0]?.ad;
  const fact: MediaRangeServed = {
    kind: 'media_range_served',
    ...servedBytes(producer, row, layout, [row.from, row.to]),
    track: row.track,
    presentation: row.presentation,
    play_id: playOf(producer, row),
    ...(ad && { ad }),
  };
  return { ...fact, ...previousKey(producer, row, fact) };
}

/** The client event of a row. Its ad comes from our own facts. */
export function deliveryEventFact(
  producer: string,
  row: RowOf<'delivery_event'>,
  layout: KnownLayout,
): DeliveryEvent | RejectionCode {
  const parts = layout.parts.filter((part) => part.ad?.serving_id === row.serving_id);
  // Of a track of HLS its cells know the duration, and nothing else.
  const durationMs = parts.reduce((sum, part) => sum + part.duration_ms, 0);
  const ad = parts[0]?.ad;
  if (!ad) return 'other_arrangement';
  return {
    kind: 'delivery_event',
    fact_id: deliveryEventFactId(row.serving_id, row.event, row.seq),
    serving_id: row.serving_id,
    event: row.event,
    sequence: row.seq,
    at: rfc3339(row.at),
    late: row.late,
    workspace_id: layout.workspaceId,
    podcast_id: layout.podcastId,
    episode_id: layout.episodeId,
    campaign_id: ad.campaign_id,
    line_item_id: ad.line_item_id,
    creative_id: ad.creative_id,
    break_key: ad.break_key,
    slot: ad.slot,
    ...(durationMs > 0 && { ad_duration_ms: durationMs }),
    listener_key: listenerOf(producer, row.listener),
    address_verdict: row.address_verdict,
    user_agent_digest: digestOf(row.user_agent_verdict),
    country: row.country,
    region: regionOf(row.region),
    lists_version: `declared by ${producer}`,
  };
}

/** The name under which the layout of a track of a presentation is known: of an ad's track, for each of its servings. */
export const trackName = (presentation: string, track: string, servingId: string | undefined): string =>
  [presentation, track, ...(servingId === undefined ? [] : [servingId])].join('/');

/** The name under which a serving by HLS is known, for events: one of an MP3 has its own id, which bytes of that MP3 need. */
export const playedServing = (servingId: string): string => `hls/${servingId}`;

/** The name for which rows wait that need the layout of this name. */
export const awaitedOf = (name: string): string => name.replace(/^hls\//, '');

/** The name of the layout that a row needs; undefined when it needs none. An event may take that of `playedServing` instead. */
export function awaitedName(row: BatchRow): string | undefined {
  if (row.kind === 'delivery_event') return row.serving_id;
  if (row.kind === 'media_range_served') return trackName(row.presentation, row.track, row.serving_id);
  return row.kind === 'byte_range_served' ? (row.serving_id ?? row.arrangement) : undefined;
}
