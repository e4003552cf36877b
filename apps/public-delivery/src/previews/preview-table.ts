import type { Pool } from '@longwave/postgres';
import { arrangementDocumentSchema, type ArrangementDocument } from '../arrangements/arrangement.ts';
import type { NewArrangement } from '../arrangements/arrangement-table.ts';
import { countedAdsSchema, type CountedAds } from '../decisions/play-ads.ts';
import type { Columns } from '../generated/rows.ts';
import type { BegunPlay } from '../plays/ended-plays.ts';

/** The play of a preview as it is kept. */
export interface KeptPreview {
  readonly id: string;
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly ads: CountedAds;
  readonly begun: BegunPlay;
  readonly document: ArrangementDocument;
  /** The pieces of header and faded audio that only it has, by their SHA-256. */
  readonly headers: ReadonlyMap<string, Buffer>;
}

export interface NewPreview extends Pick<
  NewArrangement,
  'workspaceId' | 'podcastId' | 'episodeId' | 'document' | 'headers'
> {
  readonly id: string;
  readonly ads: CountedAds;
  readonly madeAt: Date;
  readonly expiresAt: Date;
}

/** Previews of a workspace that are kept at a time: a new one takes the place of the oldest. */
const maxKept = 100;

/** Stores a preview; nothing of it goes where arrangements and their headers are kept for ever. */
export async function savePreview(pool: Pick<Pool, 'query'>, preview: NewPreview): Promise<void> {
  const { id, workspaceId, podcastId, episodeId, document, headers, ads, madeAt, expiresAt } = preview;
  const bytes = Object.fromEntries(headers.map((each) => [each.digest, each.bytes.toString('base64')]));
  await pool.query({
    name: 'save_preview',
    text: `with oldest as (
             delete from preview where id in (
               select id from preview where workspace_id = $2 order by expires_at desc, id desc offset $10))
           insert into preview (id, workspace_id, podcast_id, episode_id, document, headers, ads, made_at, expires_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      ...[id, workspaceId, podcastId, episodeId, document, JSON.stringify(bytes), ads],
      ...[madeAt, expiresAt, maxKept - 1],
    ],
  });
}

/** Undefined for a preview that was removed. */
export async function findPreview(pool: Pick<Pool, 'query'>, id: string): Promise<KeptPreview | undefined> {
  const { rows } = await pool.query<
    Columns<
      'preview',
      'workspace_id' | 'podcast_id' | 'episode_id' | 'document' | 'headers' | 'ads' | 'made_at',
      { headers: Readonly<Record<string, string>> }
    >
  >({
    name: 'preview',
    text: 'select workspace_id, podcast_id, episode_id, document, headers, ads, made_at from preview where id = $1',
    values: [id],
  });
  const [row] = rows;
  if (!row) return undefined;
  const headers = Object.entries(row.headers).map(([digest, text]) => [digest, Buffer.from(text, 'base64')] as const);
  const document = arrangementDocumentSchema.parse(row.document);
  return {
    ...{ id, workspaceId: row.workspace_id, podcastId: row.podcast_id, episodeId: row.episode_id, document },
    headers: new Map(headers),
    ads: countedAdsSchema.parse(row.ads),
    begun: { startedAt: row.made_at, isBound: true, parts: document.parts },
  };
}

/** Removes previews that had expired at a time, at most so many; answers how many. */
export async function removePreviews(pool: Pick<Pool, 'query'>, at: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'remove_previews',
    text: `delete from preview where id in (
             select id from preview where expires_at <= $1 order by expires_at limit $2 for update skip locked)`,
    values: [at, maxRows],
  });
  return rowCount ?? 0;
}
