import type { Pool } from '@longwave/postgres';
import { arrangementValues, insertArrangements, type NewArrangement } from '../arrangements/arrangement-table.ts';
import { adPicturesValue, insertAdPictures, type PicturesByCreative } from '../decisions/ad-picture-table.ts';
import { adTracksValue, insertAdTracks, type AdTracks } from '../decisions/ad-track-table.ts';
import { countedAdsSchema, type CountedAds } from '../decisions/play-ads.ts';
import { columns, type Columns, type Rows } from '../generated/rows.ts';
import type { AppSystem } from '../listeners/app-trace.ts';

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
  /** The app that the user agent names. */
  readonly app: string | undefined;
  readonly system: AppSystem | undefined;
  /** Where in a trace it was bound; absent outside of traces. */
  readonly traceparent?: string | undefined;
}

type BindingRow = Columns<'binding', keyof Rows['binding'], { system: AppSystem | null }>;

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
  traceparent: row.traceparent ?? undefined,
});

/** The binding of exactly this key. */
export async function findBinding(
  pool: Pick<Pool, 'query'>,
  { listenerKey, episodeId, sequence }: Pick<Binding, 'listenerKey' | 'episodeId' | 'sequence'>,
): Promise<Binding | undefined> {
  const { rows } = await pool.query<BindingRow>({
    name: 'binding',
    text: `select ${columns.binding} from binding where listener_key = $1 and episode_id = $2 and sequence = $3`,
    values: [listenerKey, episodeId, sequence],
  });
  return rows[0] && toBinding(rows[0]);
}

export async function findBindingByDecision(pool: Pool, decisionId: string): Promise<Binding | undefined> {
  const { rows } = await pool.query<BindingRow>({
    name: 'binding_by_decision',
    text: `select ${columns.binding} from binding where decision_id = $1`,
    values: [decisionId],
  });
  return rows[0] && toBinding(rows[0]);
}

/** The keys under which a listener may have a binding. */
export interface BindingKeys {
  readonly listener: readonly string[];
  /** Of the files that new listeners of an address share. */
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
  questions: readonly (readonly [keys: BindingKeys, episodeId: string])[],
): Promise<readonly LatestBindings[]> {
  const requested = questions.flatMap(([{ listener, shared }, episodeId], at) => [
    ...listener.map((key) => ({ at: 2 * at, key, episodeId })),
    ...shared.map((key) => ({ at: 2 * at + 1, key, episodeId })),
  ]);
  const { rows } = await pool.query<BindingRow & { readonly asked: number }>({
    name: 'latest_bindings',
    text: `select distinct on (asked) asked, latest.*
           from unnest($1::int[], $2::text[], $3::text[]) as question (asked, key, episode)
           cross join lateral (select ${columns.binding} from binding where listener_key = key and episode_id = episode
                               order by started_at desc, sequence desc limit 1) as latest
           order by asked, started_at desc, sequence desc`,
    values: [
      requested.map(({ at }) => at),
      requested.map(({ key }) => key),
      requested.map(({ episodeId }) => episodeId),
    ],
  });
  const found = new Map(rows.map((row) => [row.asked, row]));
  const bindingAt = (at: number) => {
    const row = found.get(at);
    return row && toBinding(row);
  };
  return questions.map((_, at) => ({ own: bindingAt(2 * at), shared: bindingAt(2 * at + 1) }));
}

/**
 * The binding of a play that began by HLS, whoever is its listener after an erasure: the newest of its window, because a halt binds a play anew. The first one of the window has the
 * sequence of the play or, where decisions of an erased listener were in the way, a later one and the time at which the play was opened.
 */
export async function findBindingOfHlsPlay(pool: Pick<Pool, 'query'>, playId: string): Promise<Binding | undefined> {
  const { rows } = await pool.query<BindingRow>({
    name: 'binding_of_hls_play',
    text: `with play as (
             select listener_key, episode_id, sequence as opened_as, opened_at from hls_play where play_id = $1),
           window_start as (
             select sequence as first, started_at as since from binding join play using (listener_key, episode_id)
             where sequence >= opened_as and (sequence = opened_as or started_at = opened_at)
             order by sequence limit 1)
           select ${columns.binding} from binding join play using (listener_key, episode_id), window_start
           where sequence >= first and started_at = since
           order by sequence desc limit 1`,
    values: [playId],
  });
  return rows[0] && toBinding(rows[0]);
}

/**
 * Removes bindings without ads that began before a time, at most so many; answers how many. Their arrangements stay, and so do the bindings
 * of listeners who have a play of the episode by HLS: without them, such a play would be decided once more. These go with the play
 * (`removeHlsPlays`), so each call begins where the last one ended and does not read them again; the first one reads all.
 */
export type RemoveCleanBindings = (before: Date, maxRows: number) => Promise<number>;

export function createCleanBindingSweep(pool: Pick<Pool, 'query'>): RemoveCleanBindings {
  let sweptUntil = new Date(0);
  return async (before, maxRows) => {
    const { rows } = await pool.query<{ readonly removed: number; readonly until: Date | null }>({
      name: 'remove_clean_bindings',
      text: `with old as (
               select listener_key as key, episode_id as episode, sequence as place from binding
               where ads = '{}' and started_at < $1 and started_at >= $3
                 and not exists (select from hls_play p where p.listener_key = binding.listener_key and p.episode_id = binding.episode_id)
               order by started_at limit $2 for update skip locked),
             gone as (
               delete from binding using old where listener_key = key and episode_id = episode and sequence = place
               returning started_at)
             select count(*)::int as removed, max(started_at) as until from gone`,
      values: [before, maxRows, sweptUntil],
    });
    const { removed, until } = rows[0]!;
    sweptUntil = (removed === maxRows && until) || before;
    return removed;
  };
}

/** Among more plays of one address the listener's own cannot be told apart. */
const maxAddressBindings = 50;

/** The bindings of an episode at an address since a time: the newest of each listener, newest first. */
export async function findBindingsOfAddress(
  pool: Pool,
  addressKeys: readonly string[],
  episodeId: string,
  since: Date,
): Promise<readonly Binding[]> {
  const { rows } = await pool.query<BindingRow>({
    name: 'bindings_of_address',
    text: `select * from (select distinct on (listener_key) ${columns.binding} from binding
             where address_key = any($1) and episode_id = $2 and started_at > $3
             order by listener_key, started_at desc, sequence desc) as latest
           order by started_at desc, sequence desc limit ${maxAddressBindings}`,
    values: [addressKeys, episodeId, since],
  });
  return rows.map(toBinding);
}

/** The files of HLS of the ads in a play. */
export interface AdFiles {
  readonly tracks: AdTracks;
  readonly pictures: PicturesByCreative;
}

/** Stores arrangements, bindings and the files of ads by one statement; answers for each binding whether it was stored: false if a concurrent request stored another one first. */
export async function saveBindings(
  pool: Pool,
  arrangements: readonly NewArrangement[],
  bindings: readonly Binding[],
  { tracks, pictures }: AdFiles,
): Promise<readonly boolean[]> {
  const records = bindings.map((binding) => ({
    ...{ listener_key: binding.listenerKey, episode_id: binding.episodeId, sequence: binding.sequence },
    ...{ decision_id: binding.decisionId, arrangement_id: binding.arrangementId },
    ...{ ads: binding.ads, started_at: binding.startedAt },
    ...{ address_key: binding.addressKey, app: binding.app, system: binding.system },
    traceparent: binding.traceparent,
  }));
  const { rows } = await pool.query<Columns<'binding', 'decision_id'>>({
    name: 'save_bindings',
    text: `with bound as (
             insert into binding (listener_key, episode_id, sequence, decision_id, arrangement_id, ads, started_at,
                                  address_key, app, system, traceparent)
             select listener_key, episode_id, sequence, decision_id, arrangement_id, ads, started_at, address_key, app, system, traceparent
             from json_to_recordset($3) as given (listener_key text, episode_id text, sequence int, decision_id text,
                  arrangement_id text, ads jsonb, started_at timestamptz, address_key text, app text, system text, traceparent text)
             order by listener_key, episode_id, sequence on conflict do nothing returning decision_id),
           ${insertArrangements},
           ${insertAdTracks},
           ${insertAdPictures}
           select decision_id from bound`,
    values: [
      ...arrangementValues(arrangements),
      JSON.stringify(records),
      adTracksValue(tracks),
      adPicturesValue(pictures),
    ],
  });
  const bound = new Set(rows.map((row) => row.decision_id));
  return bindings.map(({ decisionId }) => bound.has(decisionId));
}
