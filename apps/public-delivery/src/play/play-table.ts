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

/** For each question the newest binding of an episode under any of the keys, of any age. */
export async function findLatestBindings(
  pool: Pick<Pool, 'query'>,
  questions: readonly (readonly [listenerKeys: readonly string[], episodeId: string])[],
): Promise<readonly (Binding | undefined)[]> {
  const asked = questions.flatMap(([keys, episodeId], at) => keys.map((key) => ({ at, key, episodeId })));
  const { rows } = await pool.query<BindingRow & { readonly asked: number }>({
    name: 'latest_bindings',
    text: `select distinct on (asked) asked, latest.*
           from unnest($1::int[], $2::text[], $3::text[]) as question (asked, key, episode)
           cross join lateral (select * from binding where listener_key = key and episode_id = episode
                               order by started_at desc, sequence desc limit 1) as latest
           order by asked, started_at desc, sequence desc`,
    values: [asked.map(({ at }) => at), asked.map(({ key }) => key), asked.map(({ episodeId }) => episodeId)],
  });
  const found = new Map(rows.map((row) => [row.asked, row]));
  return questions.map((_, at) => {
    const row = found.get(at);
    return row && toBinding(row);
  });
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

/**
 * Of one statement: arrangements and their headers, each unless it is there. Parameters $1 and $2. Sorted, so that two processes that
 * store the same ones wait for each other and never deadlock.
 */
const storing = `
  headed as (insert into header (digest, bytes)
    select digest, decode(bytes, 'base64') from json_to_recordset($1) as given (digest text, bytes text)
    order by digest on conflict do nothing),
  arranged as (insert into arrangement (id, short_id, workspace_id, podcast_id, episode_id, published_at, document)
    select id, short_id, workspace_id, podcast_id, episode_id, published_at, document
    from json_to_recordset($2) as given (id text, short_id text, workspace_id text, podcast_id text, episode_id text,
         published_at timestamptz, document jsonb)
    order by id on conflict do nothing)`;

const storedValues = (arrangements: readonly NewArrangement[]) => [
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
    text: `with ${storing} select 1`,
    values: storedValues([arrangement]),
  });
}

/** Stores arrangements and bindings by one statement; answers for each binding whether it holds: not where somebody was faster. */
export async function saveBindings(
  pool: Pool,
  arrangements: readonly NewArrangement[],
  bindings: readonly Binding[],
): Promise<readonly boolean[]> {
  const given = bindings.map((binding) => ({
    ...{ listener_key: binding.listenerKey, episode_id: binding.episodeId, sequence: binding.sequence },
    ...{ decision_id: binding.decisionId, arrangement_id: binding.arrangementId },
    ...{ ads: binding.ads, started_at: binding.startedAt },
  }));
  const { rows } = await pool.query<{ decision_id: string }>({
    name: 'save_bindings',
    text: `with bound as (
             insert into binding (listener_key, episode_id, sequence, decision_id, arrangement_id, ads, started_at)
             select listener_key, episode_id, sequence, decision_id, arrangement_id, ads, started_at
             from json_to_recordset($3) as given (listener_key text, episode_id text, sequence int, decision_id text,
                  arrangement_id text, ads jsonb, started_at timestamptz)
             order by listener_key, episode_id, sequence on conflict do nothing returning decision_id),
           ${storing}
           select decision_id from bound`,
    values: [...storedValues(arrangements), JSON.stringify(given)],
  });
  const bound = new Set(rows.map((row) => row.decision_id));
  return bindings.map(({ decisionId }) => bound.has(decisionId));
}
