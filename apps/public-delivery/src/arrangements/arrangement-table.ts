import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { arrangementDocumentSchema, arrangementId, type ArrangementDocument } from './arrangement.ts';

export interface StoredArrangement {
  readonly id: string;
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly publishedAt: Date;
  readonly document: ArrangementDocument;
}

/** An arrangement that is not stored yet, with the pieces of header that were made for it. */
export interface NewArrangement extends StoredArrangement {
  readonly headers: readonly { readonly digest: string; readonly bytes: Buffer }[];
}

export const shortIdOf = (id: string): string => id.slice(0, 32);

type ArrangementRow = Columns<
  'arrangement',
  'id' | 'workspace_id' | 'podcast_id' | 'episode_id' | 'published_at' | 'document'
>;

function toArrangement(row: ArrangementRow): StoredArrangement {
  const document = arrangementDocumentSchema.parse(row.document);
  if (arrangementId(document) !== row.id) throw new Error(`arrangement ${row.id} is not what its id says`);
  const {
    id,
    workspace_id: workspaceId,
    podcast_id: podcastId,
    episode_id: episodeId,
    published_at: publishedAt,
  } = row;
  return { id, workspaceId, podcastId, episodeId, publishedAt, document };
}

/** By its id or by the short id of 32 characters that tokens carry. */
export async function findArrangement(pool: Pick<Pool, 'query'>, id: string): Promise<StoredArrangement | undefined> {
  const text =
    'select id, workspace_id, podcast_id, episode_id, published_at, document from arrangement where short_id = $1';
  const { rows } = await pool.query<ArrangementRow>({ name: 'arrangement', text, values: [shortIdOf(id)] });
  return rows[0] && toArrangement(rows[0]);
}

export async function getHeader(pool: Pool, digest: string): Promise<Buffer> {
  const { rows } = await pool.query<Columns<'header', 'bytes'>>({
    name: 'header',
    text: 'select bytes from header where digest = $1',
    values: [digest],
  });
  if (!rows[0]) throw new Error(`header ${digest} is missing`);
  return rows[0].bytes;
}

/**
 * Part of one statement: inserts arrangements and their headers that are not stored yet. Its parameters $1 and $2 are
 * `arrangementValues`. The rows are sorted, so that two processes that store the same ones wait for each other and never deadlock.
 */
export const insertArrangements = `
  headed as (insert into header (digest, bytes)
    select digest, decode(bytes, 'base64') from json_to_recordset($1) as given (digest text, bytes text)
    order by digest on conflict do nothing),
  arranged as (insert into arrangement (id, short_id, workspace_id, podcast_id, episode_id, published_at, document)
    select id, short_id, workspace_id, podcast_id, episode_id, published_at, document
    from json_to_recordset($2) as given (id text, short_id text, workspace_id text, podcast_id text, episode_id text,
         published_at timestamptz, document jsonb)
    order by id on conflict do nothing)`;

export const arrangementValues = (arrangements: readonly NewArrangement[]) => [
  JSON.stringify(
    arrangements.flatMap(({ headers }) =>
      headers.map(({ digest, bytes }) => ({ digest, bytes: bytes.toString('base64') })),
    ),
  ),
  JSON.stringify(
    arrangements.map(({ id, workspaceId, podcastId, episodeId, publishedAt, document }) => ({
      ...{ id, short_id: shortIdOf(id), workspace_id: workspaceId, podcast_id: podcastId, episode_id: episodeId },
      ...{ published_at: publishedAt, document },
    })),
  ),
];

/** Stores an arrangement for ever; one that is already there stays as it is. */
export async function saveArrangement(pool: Pick<Pool, 'query'>, arrangement: NewArrangement): Promise<void> {
  await pool.query({
    name: 'save_arrangement',
    text: `with ${insertArrangements} select 1`,
    values: arrangementValues([arrangement]),
  });
}
