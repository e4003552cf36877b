import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { presentationDigest, presentationSchema, type PresentationDocument } from './presentation.ts';

export interface StoredPresentation {
  readonly digest: string;
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  /** SHA-256 of the MP3 with the same content. */
  readonly renditionDigest: string;
  readonly document: PresentationDocument;
}

/** The part of a digest that tokens carry. */
export const shortIdOf = (digest: string): string => digest.slice(0, 32);

type PresentationRow = Columns<
  'presentation',
  'digest' | 'workspace_id' | 'podcast_id' | 'episode_id' | 'rendition_digest' | 'document'
>;

const selected = `select digest, workspace_id, podcast_id, episode_id, rendition_digest, document from presentation`;

function toPresentation(row: PresentationRow): StoredPresentation {
  const document = presentationSchema.parse(row.document);
  if (presentationDigest(document) !== row.digest)
    throw new Error(`presentation ${row.digest} is not what it is named`);
  const { digest, workspace_id: workspaceId, podcast_id: podcastId, episode_id: episodeId } = row;
  return { digest, workspaceId, podcastId, episodeId, renditionDigest: row.rendition_digest, document };
}

/** By its digest or the part of it that tokens carry. */
export async function findPresentation(pool: Pool, digest: string): Promise<StoredPresentation | undefined> {
  const { rows } = await pool.query<PresentationRow>({
    name: 'presentation',
    text: `${selected} where short_id = $1`,
    values: [shortIdOf(digest)],
  });
  return rows[0] && toPresentation(rows[0]);
}

/** Stores a presentation for ever; one that is there already stays as it is. */
export async function savePresentation(pool: Pick<Pool, 'query'>, presentation: StoredPresentation): Promise<void> {
  const { digest, workspaceId, podcastId, episodeId, renditionDigest, document } = presentation;
  await pool.query({
    name: 'save_presentation',
    text: `insert into presentation (digest, short_id, workspace_id, podcast_id, episode_id, rendition_digest, document)
           values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    values: [...[digest, shortIdOf(digest), workspaceId, podcastId, episodeId, renditionDigest], document],
  });
}
