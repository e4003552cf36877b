import { servedAdSchema } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import type { Columns, Rows } from '../generated/rows.ts';
import type { AppSystem } from '../listeners/app-trace.ts';
import { playedProduction } from '../projection/content-table.ts';
import type { PlaysEnd } from './ended-plays.ts';
import { arrangementDocumentSchema, arrangementId, type ArrangementDocument } from '../arrangements/arrangement.ts';

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
  /** Playing time of the ad in this arrangement. */
  readonly adDurationMs: number | undefined;
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
  /** Pseudonym of the address on the day of the request; '' in rows that are older than it. */
  readonly addressKey: string;
  /** What the user agent told of the app. */
  readonly app: string | undefined;
  readonly system: AppSystem | undefined;
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
type BindingRow = Columns<'binding', keyof Rows['binding'], { system: AppSystem | null }>;

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
  addressKey: row.address_key,
  app: row.app ?? undefined,
  system: row.system ?? undefined,
});

/** By its id or, of 32 characters, the short id that tokens carry. */
export async function findArrangement(pool: Pick<Pool, 'query'>, id: string): Promise<StoredArrangement | undefined> {
  const text =
    'select id, workspace_id, podcast_id, episode_id, published_at, document from arrangement where short_id = $1';
  const { rows } = await pool.query<ArrangementRow>({ name: 'arrangement', text, values: [shortIdOf(id)] });
  return rows[0] && toArrangement(rows[0]);
}

/** Whether what an arrangement plays is public now, hidden, or ended for good, and which plays of it are over. */
export interface Standing {
  readonly kind: 'public' | 'hidden' | 'ended';
  readonly playsEnd: PlaysEnd;
}

type PlaysEndRow = Columns<'episode', 'plays_end_before' | 'state'> &
  Columns<'production', 'rendition_digest'> & { readonly podcast_state: Rows['podcast']['state'] | null };

const toStanding = (row: PlaysEndRow | undefined): Standing => {
  const states = [row?.state, row?.podcast_state];
  const isPublic = states.every((state) => state === 'published');
  const kind = states.includes('archived') ? 'ended' : isPublic ? 'public' : 'hidden';
  const digest = (isPublic && row?.rendition_digest) || undefined;
  return { kind, playsEnd: { before: row?.plays_end_before ?? undefined, digest } };
};

const playsEndRow = `select e.id, e.state, p.state as podcast_state, e.plays_end_before, r.rendition_digest
  from episode e left join podcast p on p.id = e.podcast_id ${playedProduction}`;

export async function getStanding(pool: Pool, { episodeId }: Pick<StoredArrangement, 'episodeId'>): Promise<Standing> {
  const { rows } = await pool.query<PlaysEndRow>({
    name: 'standing',
    text: `${playsEndRow} where e.id = $1`,
    values: [episodeId],
  });
  return toStanding(rows[0]);
}

/** Of episodes whose plays were ended for everybody since a time. */
export async function listPlaysEnds(
  pool: Pool,
  since: Date,
): Promise<readonly (PlaysEnd & { readonly episodeId: string })[]> {
  const { rows } = await pool.query<PlaysEndRow & { readonly id: string }>({
    name: 'plays_ends',
    text: `${playsEndRow} where e.plays_end_before > $1`,
    values: [since],
  });
  return rows.map((row) => ({ episodeId: row.id, ...toStanding(row).playsEnd }));
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
    Pick<BindingRow, 'decision_id' | 'listener_key' | 'ads'> &
      Omit<ArrangementRow, 'id' | 'document'> & { readonly durations: Readonly<Record<string, number>> | null }
  >({
    name: 'servings',
    text: `select b.decision_id, b.listener_key, b.ads, a.workspace_id, a.podcast_id, a.episode_id,
             (select json_object_agg(slot, ms) from (
                select a.document->'parts'->((t->>'part')::int)->>'slot' as slot, sum((t->>'dur_ms')::int) as ms
                from jsonb_array_elements(a.document->'timeline') t group by 1) as played
              where slot is not null) as durations
           from binding b join arrangement a on a.id = b.arrangement_id where b.decision_id = any($1)`,
    values: [[...new Set(of.map(({ decisionId }) => decisionId))]],
  });
  return rows.flatMap(({ decision_id: decisionId, listener_key: listenerKey, ads, ...row }) =>
    Object.entries(countedAdsSchema.parse(ads)).map(([slot, ad]) => ({
      ...{ workspaceId: row.workspace_id, podcastId: row.podcast_id, episodeId: row.episode_id },
      ...{ decisionId, listenerKey, ad, adDurationMs: row.durations?.[slot] },
    })),
  );
}

/** The keys under which a listener may have a binding. */
export interface AskedKeys {
  readonly listener: readonly string[];
  /** Of what new listeners of an address share. */
  readonly shared: readonly string[];
}

/** The newest binding of each kind. */
export interface LatestBindings {
  readonly own: Binding | undefined;
  readonly shared: Binding | undefined;
}

/** For each question the newest bindings of an episode under the keys, of any age. */
export async function findLatestBindings(
  pool: Pick<Pool, 'query'>,
  questions: readonly (readonly [keys: AskedKeys, episodeId: string])[],
): Promise<readonly LatestBindings[]> {
  const asked = questions.flatMap(([{ listener, shared }, episodeId], at) => [
    ...listener.map((key) => ({ at: 2 * at, key, episodeId })),
    ...shared.map((key) => ({ at: 2 * at + 1, key, episodeId })),
  ]);
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
  const bindingAt = (at: number) => {
    const row = found.get(at);
    return row && toBinding(row);
  };
  return questions.map((_, at) => ({ own: bindingAt(2 * at), shared: bindingAt(2 * at + 1) }));
}

/** Removes bindings without ads that began before a time, at most so many; answers how many. Their files stay, as everything does. */
export async function removeCleanBindings(pool: Pool, before: Date, rowsMax: number): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'remove_clean_bindings',
    text: `delete from binding using (
             select listener_key as key, episode_id as episode, sequence as place from binding
             where ads = '{}' and started_at < $1 order by started_at limit $2 for update skip locked) as old
           where listener_key = key and episode_id = episode and sequence = place`,
    values: [before, rowsMax],
  });
  return rowCount ?? 0;
}

/** Of so many plays of one address nobody can say whose file is asked about. */
const addressBindingsMax = 50;

/** What listeners of an address were given of an episode since a time: of each listener the newest binding, newest first. */
export async function findBindingsOfAddress(
  pool: Pool,
  addressKeys: readonly string[],
  episodeId: string,
  since: Date,
): Promise<readonly Binding[]> {
  const { rows } = await pool.query<BindingRow>({
    name: 'bindings_of_address',
    text: `select * from (select distinct on (listener_key) * from binding
             where address_key = any($1) and episode_id = $2 and started_at > $3
             order by listener_key, started_at desc, sequence desc) as latest
           order by started_at desc, sequence desc limit ${addressBindingsMax}`,
    values: [addressKeys, episodeId, since],
  });
  return rows.map(toBinding);
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

/** Stores arrangements and bindings by one statement; answers for each binding whether it holds: false if a concurrent request stored another one first. */
export async function saveBindings(
  pool: Pool,
  arrangements: readonly NewArrangement[],
  bindings: readonly Binding[],
): Promise<readonly boolean[]> {
  const given = bindings.map((binding) => ({
    ...{ listener_key: binding.listenerKey, episode_id: binding.episodeId, sequence: binding.sequence },
    ...{ decision_id: binding.decisionId, arrangement_id: binding.arrangementId },
    ...{ ads: binding.ads, started_at: binding.startedAt },
    ...{ address_key: binding.addressKey, app: binding.app, system: binding.system },
  }));
  const { rows } = await pool.query<Columns<'binding', 'decision_id'>>({
    name: 'save_bindings',
    text: `with bound as (
             insert into binding (listener_key, episode_id, sequence, decision_id, arrangement_id, ads, started_at,
                                  address_key, app, system)
             select listener_key, episode_id, sequence, decision_id, arrangement_id, ads, started_at, address_key, app, system
             from json_to_recordset($3) as given (listener_key text, episode_id text, sequence int, decision_id text,
                  arrangement_id text, ads jsonb, started_at timestamptz, address_key text, app text, system text)
             order by listener_key, episode_id, sequence on conflict do nothing returning decision_id),
           ${storing}
           select decision_id from bound`,
    values: [...storedValues(arrangements), JSON.stringify(given)],
  });
  const bound = new Set(rows.map((row) => row.decision_id));
  return bindings.map(({ decisionId }) => bound.has(decisionId));
}
