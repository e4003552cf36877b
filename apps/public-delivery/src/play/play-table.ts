import { servedAdSchema } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import { arrangementDocumentSchema, arrangementId, type ArrangementDocument } from '../media/arrangement.ts';

/** Where a click on an ad may lead: what a browser opens by itself. */
export const clickUrlSchema = z.url({ protocol: /^https?$/ });

/** What counting must know of an ad; travels in facts, never to a client. The click address travels nowhere. */
const countedAdSchema = z.strictObject({
  ...servedAdSchema.shape,
  billable: z.boolean().default(false),
  /** Where a click on it leads, as approved. */
  click_url: clickUrlSchema.optional(),
});
const countedAdsSchema = z.record(z.string(), countedAdSchema);

/** By slot of the arrangement, "pre/0". */
export type CountedAds = z.infer<typeof countedAdsSchema>;

/** An ad as facts tell it. */
export const countedAd = ({ click_url: _clickUrl, ...counted }: CountedAds[string]) => counted;

/** One ad that a listener was given, with what was stored of it. */
export interface Serving {
  readonly decisionId: string;
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly listenerKey: string;
  readonly ad: CountedAds[string];
}

export interface StoredArrangement {
  readonly id: string;
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly publishedAt: Date;
  readonly document: ArrangementDocument;
}

export interface Binding {
  readonly listenerKey: string;
  readonly episodeId: string;
  readonly sequence: number;
  readonly decisionId: string;
  readonly arrangementId: string;
  readonly ads: CountedAds;
  readonly startedAt: Date;
}

/** An arrangement that is not stored yet, with the pieces of header that were made for it. */
export interface NewArrangement extends StoredArrangement {
  readonly headers: readonly { readonly digest: string; readonly bytes: Buffer }[];
}

export const shortIdOf = (id: string): string => id.slice(0, 32);

interface ArrangementRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly podcast_id: string;
  readonly episode_id: string;
  readonly published_at: Date;
  readonly document: unknown;
}
interface BindingRow {
  readonly listener_key: string;
  readonly episode_id: string;
  readonly sequence: number;
  readonly decision_id: string;
  readonly arrangement_id: string;
  readonly ads: unknown;
  readonly started_at: Date;
}

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

const toBinding = (row: BindingRow): Binding => ({
  listenerKey: row.listener_key,
  episodeId: row.episode_id,
  sequence: row.sequence,
  decisionId: row.decision_id,
  arrangementId: row.arrangement_id,
  ads: countedAdsSchema.parse(row.ads),
  startedAt: row.started_at,
});

/** By its id or, of 32 characters, the short id that tokens carry. */
export async function findArrangement(pool: Pick<Pool, 'query'>, id: string): Promise<StoredArrangement | undefined> {
  const text =
    'select id, workspace_id, podcast_id, episode_id, published_at, document from arrangement where short_id = $1';
  const { rows } = await pool.query<ArrangementRow>({ name: 'arrangement', text, values: [shortIdOf(id)] });
  return rows[0] && toArrangement(rows[0]);
}

/** Whether what an arrangement plays is public now, hidden, or ended for good. */
export type Standing = 'public' | 'hidden' | 'ended';

export async function getStanding(
  pool: Pool,
  { podcastId, episodeId }: Pick<StoredArrangement, 'podcastId' | 'episodeId'>,
): Promise<Standing> {
  const { rows } = await pool.query<{ state: string }>({
    name: 'standing',
    text: 'select state from episode where id = $1 union all select state from podcast where id = $2',
    values: [episodeId, podcastId],
  });
  const states = rows.map(({ state }) => state);
  if (states.includes('archived')) return 'ended';
  return states.length === 2 && states.every((state) => state === 'published') ? 'public' : 'hidden';
}

export async function findBindingByDecision(pool: Pool, decisionId: string): Promise<Binding | undefined> {
  const { rows } = await pool.query<BindingRow>({
    name: 'binding_by_decision',
    text: 'select * from binding where decision_id = $1',
    values: [decisionId],
  });
  return rows[0] && toBinding(rows[0]);
}

/** All ads of the decisions. */
export async function findServings(
  pool: Pool,
  of: readonly { readonly decisionId: string }[],
): Promise<readonly Serving[]> {
  const { rows } = await pool.query<
    Pick<BindingRow, 'decision_id' | 'listener_key' | 'ads'> & Omit<ArrangementRow, 'id' | 'document'>
  >({
    name: 'servings',
    text: `select b.decision_id, b.listener_key, b.ads, a.workspace_id, a.podcast_id, a.episode_id
           from binding b join arrangement a on a.id = b.arrangement_id where b.decision_id = any($1)`,
    values: [[...new Set(of.map(({ decisionId }) => decisionId))]],
  });
  return rows.flatMap(({ decision_id: decisionId, listener_key: listenerKey, ads, ...row }) =>
    Object.values(countedAdsSchema.parse(ads)).map((ad) => ({
      ...{ workspaceId: row.workspace_id, podcastId: row.podcast_id, episodeId: row.episode_id },
      ...{ decisionId, listenerKey, ad },
    })),
  );
}

/** The newest binding of an episode under any of the keys, of any age. */
export async function findLatestBinding(
  pool: Pick<Pool, 'query'>,
  listenerKeys: readonly string[],
  episodeId: string,
): Promise<Binding | undefined> {
  const { rows } = await pool.query<BindingRow>({
    name: 'latest_binding',
    text: 'select * from binding where listener_key = any($1) and episode_id = $2 order by started_at desc, sequence desc limit 1',
    values: [listenerKeys, episodeId],
  });
  return rows[0] && toBinding(rows[0]);
}

export async function getHeader(pool: Pool, digest: string): Promise<Buffer> {
  const { rows } = await pool.query<{ bytes: Buffer }>({
    name: 'header',
    text: 'select bytes from header where digest = $1',
    values: [digest],
  });
  if (!rows[0]) throw new Error(`header ${digest} is missing`);
  return rows[0].bytes;
}

/** Of one statement: an arrangement and its headers, each unless it is there. Parameters $1 to $9. */
const storing = (condition: string) => `
  headed as (insert into header (digest, bytes)
    select * from unnest($8::text[], $9::bytea[]) where ${condition} on conflict do nothing),
  arranged as (insert into arrangement (id, short_id, workspace_id, podcast_id, episode_id, published_at, document)
    select $1, $2, $3, $4, $5, $6, $7 where ${condition} on conflict do nothing)`;

const storedValues = ({ id, workspaceId, podcastId, episodeId, publishedAt, document, headers }: NewArrangement) => [
  ...[id, shortIdOf(id), workspaceId, podcastId, episodeId, publishedAt, document],
  ...[headers.map(({ digest }) => digest), headers.map(({ bytes }) => bytes)],
];

/** Stores an arrangement for ever; one that is already there stays as it is. */
export async function saveArrangement(pool: Pool, arrangement: NewArrangement): Promise<void> {
  await pool.query({
    name: 'save_arrangement',
    text: `with ${storing('true')} select 1`,
    values: storedValues(arrangement),
  });
}

/**
 * Stores arrangement and binding by one statement; answers the binding that holds, which is another one when somebody was faster:
 * then nothing is stored.
 */
export async function bindArrangement(pool: Pool, arrangement: NewArrangement, binding: Binding): Promise<Binding> {
  const { listenerKey, episodeId, sequence, decisionId, ads, startedAt } = binding;
  const { rows } = await pool.query<{ bound: number }>({
    name: 'bind_arrangement',
    text: `with bound as (
             insert into binding (listener_key, episode_id, sequence, decision_id, arrangement_id, ads, started_at)
             values ($10, $5, $11, $12, $1, $13, $14) on conflict do nothing returning 1),
           ${storing('exists (select from bound)')}
           select count(*)::int as bound from bound`,
    values: [...storedValues(arrangement), listenerKey, sequence, decisionId, ads, startedAt],
  });
  if (rows[0]!.bound === 1) return binding;
  const winner = await findLatestBinding(pool, [listenerKey], episodeId);
  if (!winner) throw new Error('a conflicting binding is not visible');
  return winner;
}
