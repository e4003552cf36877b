import type { StateOf } from '@longwave/command-catalog';
import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns, Rows } from '../generated/rows.ts';
import { playedProduction, standInClip } from './content-table.ts';
import type { PodcastAttributes, ShownEpisode } from './projected.ts';

/** The row that answers a request for a feed. */
export interface FeedState {
  readonly podcastId: string;
  /** That of its podcast. */
  readonly state: StateOf<'podcasts'>;
  readonly newFeedUrl: string | undefined;
  readonly revision: string;
  readonly changedAt: Date;
}

type FeedRow = Columns<
  'feed',
  'podcast_id' | 'state' | 'new_feed_url' | 'revision' | 'changed_at',
  // A condition names its states.
  { state: StateOf<'podcasts'> }
>;

const toState = (row: FeedRow): FeedState => ({
  podcastId: row.podcast_id,
  state: row.state,
  newFeedUrl: row.new_feed_url ?? undefined,
  revision: row.revision,
  changedAt: row.changed_at,
});

const columns = 'podcast_id, state, new_feed_url, revision, changed_at';

/** One row for each of these subdomains that has one among the feeds that `isOf` takes. */
async function findFeedsOf(
  pool: Pick<Pool, 'query'>,
  subdomains: readonly string[],
  { name, isOf }: { readonly name: string; readonly isOf: string },
): Promise<Map<string, FeedState>> {
  const { rows } = await pool.query<FeedRow & { readonly asked: string }>({
    name,
    text: `select asked, ${columns} from unnest($1::text[]) as asked cross join lateral
             (select * from feed where subdomain = asked and ${isOf} order by podcast_id desc limit 1) as found`,
    values: [subdomains],
  });
  return new Map(rows.map((row) => [row.asked, toState(row)]));
}

/** For each subdomain, in their order, the row of the living podcast that has it, else of an archived one that had it. */
export async function findFeeds(
  pool: Pick<Pool, 'query'>,
  subdomains: readonly string[],
): Promise<(FeedState | undefined)[]> {
  const all = [...new Set(subdomains)];
  const livingStates = `state in ('published', 'unpublished', 'draft')`;
  const living = await findFeedsOf(pool, all, { name: 'feeds_living', isOf: livingStates });
  const others = all.filter((subdomain) => !living.has(subdomain));
  const ended =
    others.length > 0 ? await findFeedsOf(pool, others, { name: 'feeds_ended', isOf: `state = 'archived'` }) : living;
  return subdomains.map((subdomain) => living.get(subdomain) ?? ended.get(subdomain));
}

/** The parts of an enclosure address. */
export type EnclosureRow = Columns<'alias', 'alias' | 'file_name'> & {
  /** Null while a clip stands in. */
  readonly rendition_bytes: Rows['production']['rendition_bytes'];
  readonly clip_format: Rows['media_clip']['file_format'] | null;
};

/** An episode as its feed shows it. */
export type FeedEpisodeRow = EnclosureRow &
  Columns<
    'episode',
    'attributes' | 'published_at' | 'chapters_digest' | 'chapters_tag_bytes',
    { attributes: ShownEpisode; published_at: Date }
  > & {
    readonly duration_ms: Rows['production']['duration_ms'];
    readonly clip_bytes: Rows['media_clip']['size_bytes'] | null;
    readonly clip_ms: Rows['media_clip']['duration_ms'] | null;
    /** Average bit rate of its presentation in bit/s; null without one. */
    readonly hls_bit_rate: Rows['presented_episode']['average_bit_rate'];
    /** Codec and height of its largest picture; null for sound alone. */
    readonly hls_video_codec: Rows['presented_episode']['video_codec'];
    readonly hls_video_height: Rows['presented_episode']['video_height'];
  };

const withAudio = `from episode e join alias a on a.episode_id = e.id
    ${playedProduction}
    ${standInClip}`;
const isShown = `e.state = 'published' and (r.id is not null or c.clip_url is not null)`;
export const shownEpisodes = `${withAudio}
    left join presented_episode h on h.episode_id = e.id and h.digest is not null
  where e.podcast_id = $1 and ${isShown}`;
export const episodeColumns = `e.attributes, e.published_at, a.alias, a.file_name, e.chapters_digest, e.chapters_tag_bytes,
  r.rendition_bytes, r.duration_ms, c.clip_bytes, c.clip_ms, c.clip_format,
  h.average_bit_rate as hls_bit_rate, h.video_codec as hls_video_codec, h.video_height as hls_video_height`;
export const newestFirst = 'order by e.published_at desc, e.id desc';

export async function getShownPodcast(tx: Transaction, podcastId: string): Promise<PodcastAttributes> {
  const { rows } = await tx.query<Columns<'podcast', 'attributes', { attributes: PodcastAttributes }>>(
    'select attributes from podcast where id = $1',
    [podcastId],
  );
  if (!rows[0]) throw new Error('the podcast of a feed is gone');
  return rows[0].attributes;
}

export async function countShownEpisodes(tx: Transaction, podcastId: string): Promise<number> {
  const { rows } = await tx.query<{ count: string }>(`select count(*) ${shownEpisodes}`, [podcastId]);
  return Number(rows[0]!.count);
}

/** The newest trailers. */
export async function getTrailers(tx: Transaction, podcastId: string, limit: number): Promise<FeedEpisodeRow[]> {
  const { rows } = await tx.query<FeedEpisodeRow>(
    `select ${episodeColumns} ${shownEpisodes} and e.attributes->>'type' = 'trailer' ${newestFirst} limit ${limit}`,
    [podcastId],
  );
  return rows;
}

/** Of these episodes those that published podcasts of the workspace show. */
export async function listEnclosures(
  pool: Pick<Pool, 'query'>,
  workspaceId: string,
  episodeIds: readonly string[],
): Promise<readonly (EnclosureRow & { readonly id: string })[]> {
  const { rows } = await pool.query<EnclosureRow & { readonly id: string }>({
    name: 'enclosures',
    text: `select e.id, a.alias, a.file_name, r.rendition_bytes, c.clip_format ${withAudio}
             join podcast p on p.id = e.podcast_id and p.state = 'published'
           where e.id = any($1) and e.workspace_id = $2 and ${isShown}`,
    values: [episodeIds, workspaceId],
  });
  return rows;
}

/** The presentation that an episode has now, as `listEnclosures` finds it: undefined while it has none of the audio that plays. */
export async function findShownPresentation(
  pool: Pick<Pool, 'query'>,
  workspaceId: string,
  episodeId: string,
): Promise<(EnclosureRow & { readonly digest: string; readonly has_pictures: boolean }) | undefined> {
  const { rows } = await pool.query<EnclosureRow & { readonly digest: string; readonly has_pictures: boolean }>({
    name: 'shown_presentation',
    text: `select a.alias, a.file_name, r.rendition_bytes, c.clip_format, h.digest,
             (s.document -> 'pictures') is not null as has_pictures ${withAudio}
             join podcast p on p.id = e.podcast_id and p.state = 'published'
             join presented_episode h on h.episode_id = e.id
             join presentation s on s.digest = h.digest and s.rendition_digest = r.rendition_digest
           where e.id = $1 and e.workspace_id = $2 and ${isShown}`,
    values: [episodeId, workspaceId],
  });
  return rows[0];
}

const batchRows = 50;

/**
 * Episodes in batches, newest first, by a cursor: never more than one batch is in memory.
 * @param page only these rows of them
 */
export async function* readEpisodes(
  tx: Transaction,
  podcastId: string,
  page?: { readonly offset: number; readonly limit: number },
): AsyncGenerator<readonly FeedEpisodeRow[]> {
  const window = page ? ` offset ${page.offset} limit ${page.limit}` : '';
  await tx.query(
    `declare shown no scroll cursor for select ${episodeColumns} ${shownEpisodes} ${newestFirst}${window}`,
    [podcastId],
  );
  for (;;) {
    const { rows } = await tx.query<FeedEpisodeRow>(`fetch ${batchRows} from shown`);
    if (rows.length > 0) yield rows;
    if (rows.length < batchRows) break;
  }
  await tx.query('close shown');
}
