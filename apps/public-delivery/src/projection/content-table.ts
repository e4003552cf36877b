import path from 'node:path';
import type { Pool } from '@longwave/postgres';
import type { EpisodeAttributes, PodcastAttributes, Rendition } from './projected.ts';

/** A published episode of a published podcast with its audio: all that a play needs to know. */
export interface PlayableEpisode {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly publishedAt: Date;
  readonly title: string;
  readonly podcastTitle: string;
  readonly author: string;
  readonly fileName: string;
  readonly rendition: Rendition;
}

interface PlayableRow {
  readonly workspace_id: string;
  readonly podcast_id: string;
  readonly id: string;
  readonly published_at: Date;
  readonly title: string;
  readonly podcast_title: string;
  readonly author: string | null;
  readonly file_name: string;
  readonly rendition_digest: string;
  readonly rendition_bytes: string;
  readonly duration_ms: string;
}

const playable = `
  select e.workspace_id, e.podcast_id, e.id, e.published_at, e.attributes->>'title' as title, p.attributes->>'title' as podcast_title,
    p.attributes->>'author' as author, a.file_name, r.rendition_digest, r.rendition_bytes, r.duration_ms
  from episode e
    join alias a on a.episode_id = e.id
    join podcast p on p.id = e.podcast_id and p.state = 'published'
    join production r on r.id = e.production_id and r.state = 'encoded' and r.rendition_digest is not null
  where e.state = 'published'`;

const toPlayable = (row: PlayableRow): PlayableEpisode => ({
  workspaceId: row.workspace_id,
  podcastId: row.podcast_id,
  episodeId: row.id,
  publishedAt: row.published_at,
  title: row.title,
  podcastTitle: row.podcast_title,
  author: row.author ?? '',
  fileName: row.file_name,
  rendition: {
    digest: row.rendition_digest,
    sizeBytes: Number(row.rendition_bytes),
    durationMs: Number(row.duration_ms),
  },
});

export async function findEpisodeByAlias(pool: Pool, alias: string): Promise<PlayableEpisode | undefined> {
  const { rows } = await pool.query<PlayableRow>({
    name: 'episode_by_alias',
    text: `${playable} and a.alias = $1`,
    values: [alias],
  });
  return rows[0] && toPlayable(rows[0]);
}

/** The first published episode whose audio has this digest. */
export async function findEpisodeByDigest(pool: Pool, digest: string): Promise<PlayableEpisode | undefined> {
  const text = `${playable} and r.rendition_digest = $1 order by e.published_at, e.id limit 1`;
  const { rows } = await pool.query<PlayableRow>({ name: 'episode_by_digest', text, values: [digest] });
  return rows[0] && toPlayable(rows[0]);
}

/** True while the episode and its podcast are both public. */
export async function isEpisodePublished(pool: Pool, episodeId: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'episode_published',
    text: `select from episode e join podcast p on p.id = e.podcast_id
           where e.id = $1 and e.state = 'published' and p.state = 'published'`,
    values: [episodeId],
  });
  return rowCount === 1;
}

export interface PublicUpload {
  /** As in its public address: the last segment of its storage key. */
  readonly filename: string;
  readonly contentType: string;
  readonly storageKey: string;
}

/** A public upload that was not given up; whether anything was stored, the object store knows. */
export async function findPublicUpload(pool: Pool, id: string): Promise<PublicUpload | undefined> {
  const { rows } = await pool.query<{ content_type: string; storage_key: string }>({
    name: 'public_upload',
    text: `select content_type, storage_key from upload where id = $1 and upload_type = 'public' and state in ('granted', 'received')`,
    values: [id],
  });
  return (
    rows[0] && {
      filename: path.posix.basename(rows[0].storage_key),
      contentType: rows[0].content_type,
      storageKey: rows[0].storage_key,
    }
  );
}

/** Which state of the projection a feed would be rendered from; `key` changes with every applied event that it shows. */
export async function findFeedKey(
  pool: Pick<Pool, 'query'>,
  subdomain: string,
): Promise<{ podcastId: string; key: string } | undefined> {
  const { rows } = await pool.query<{ id: string; key: string }>({
    name: 'feed_key',
    text: `select p.id, p.id || ':' || p.version || ':' || coalesce((
        select md5(string_agg(e.id || e.version || ':' || coalesce(r.version, 0), ',' order by e.id))
        from episode e left join production r on r.id = e.production_id where e.podcast_id = p.id), '') as key
      from podcast p where p.subdomain = $1 and p.state = 'published' order by p.changed_at desc limit 1`,
    values: [subdomain],
  });
  return rows[0] && { podcastId: rows[0].id, key: rows[0].key };
}

export interface FeedEpisodeRow {
  readonly id: string;
  readonly attributes: Omit<EpisodeAttributes, 'current_production_id'>;
  readonly publishedAt: Date;
  readonly alias: string;
  readonly fileName: string;
  readonly rendition: Rendition;
}

export interface FeedRows {
  readonly podcast: PodcastAttributes;
  /** The last change of anything the feed shows, or showed. */
  readonly changedAt: Date;
  /** Newest first. */
  readonly episodes: readonly FeedEpisodeRow[];
}

/** Everything a feed shows. Call it in the transaction that read the key. */
export async function getFeedRows(tx: Pick<Pool, 'query'>, podcastId: string): Promise<FeedRows> {
  const podcasts = await tx.query<{ attributes: PodcastAttributes; changed_at: Date }>(
    `select attributes, greatest(changed_at, (select max(changed_at) from episode where podcast_id = $1),
       (select max(r.changed_at) from production r join episode e on r.id = e.production_id
        where e.podcast_id = $1 and e.state = 'published' and r.state = 'encoded')) as changed_at
     from podcast where id = $1`,
    [podcastId],
  );
  const episodes = await tx.query<PlayableRow & { attributes: FeedEpisodeRow['attributes']; alias: string }>(
    `select e.id, e.attributes, e.published_at, a.alias, a.file_name, r.rendition_digest, r.rendition_bytes, r.duration_ms
     from episode e join alias a on a.episode_id = e.id
       join production r on r.id = e.production_id and r.state = 'encoded' and r.rendition_digest is not null
     where e.podcast_id = $1 and e.state = 'published' order by e.published_at desc, e.id desc`,
    [podcastId],
  );
  const [podcast] = podcasts.rows;
  if (!podcast) throw new Error('the podcast of a feed key is gone');
  return {
    podcast: podcast.attributes,
    changedAt: podcast.changed_at,
    episodes: episodes.rows.map((row) => ({
      id: row.id,
      attributes: row.attributes,
      publishedAt: row.published_at,
      alias: row.alias,
      fileName: row.file_name,
      rendition: {
        digest: row.rendition_digest,
        sizeBytes: Number(row.rendition_bytes),
        durationMs: Number(row.duration_ms),
      },
    })),
  };
}
