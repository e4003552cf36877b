import { createDisjointSets, maxKeysOfPlay, type ServedBytes } from '@longwave/audience';
import { columns, type JsonRows } from '@longwave/audience-store';
import type { Transaction } from '@longwave/postgres';

/** A listener's key and an episode. */
export type ListenerEpisode = Readonly<Pick<JsonRows['listener_episode'], 'listener_key' | 'episode_id'>> & {
  readonly previous_listener_key?: string | undefined;
};

/** The keys for one episode that may share a window, and the earliest start among the new facts. */
export interface ListenerEpisodeChain {
  readonly keys: readonly string[];
  readonly episodeId: string;
  readonly sinceMs: number;
  /** Names the keys of one address and user agent over changes of secrets; the others of the chain used the tokens of the same plays. */
  readonly ownKeysOf: (listenerKey: string) => string;
}

export interface LockedChains {
  readonly chains: readonly ListenerEpisodeChain[];
  /** Plays with more keys than a listener has: they join none, and their keys are in chains of their own. */
  readonly crowded: ReadonlySet<string>;
}

/** Names a listener's key and an episode. */
export const listenerEpisodeName = (one: Pick<ListenerEpisode, 'listener_key' | 'episode_id'>) =>
  `${one.listener_key} ${one.episode_id}`;

/** Creates and locks the rows in key order; stores the link to the previous key. */
async function lock(tx: Transaction, rows: readonly ListenerEpisode[]): Promise<void> {
  await tx.query(
    `insert into listener_episode (${columns.listener_episode})
     select ${columns.listener_episode} from json_populate_recordset(null::listener_episode, $1)
     order by listener_key, episode_id on conflict (listener_key, episode_id)
     do update set previous_listener_key = excluded.previous_listener_key
     where listener_episode.previous_listener_key is null and excluded.previous_listener_key is not null`,
    [JSON.stringify(rows)],
  );
}

/** A play within 24 h of its opening, and the keys that used its token. */
interface PlayKeys {
  readonly episodeId: string;
  readonly playId: string;
  readonly keys: Set<string>;
}

interface Links {
  readonly previous: readonly Required<ListenerEpisode>[];
  /** By `playName`. */
  readonly plays: ReadonlyMap<string, PlayKeys>;
}

const playName = (episodeId: string, playId: string) => `play ${playId} ${episodeId}`;

function addKey(plays: Map<string, PlayKeys>, episodeId: string, playId: string, key: string): void {
  const name = playName(episodeId, playId);
  const known = plays.get(name) ?? { episodeId, playId, keys: new Set() };
  plays.set(name, known);
  known.keys.add(key);
}

/** The plays of new facts that may join two keys, by `playName`. */
function playsOf(facts: readonly ServedBytes[]): Map<string, PlayKeys> {
  const plays = new Map<string, PlayKeys>();
  for (const { episode_id: episodeId, play_id: playId, play_address_key, listener_key } of facts) {
    if (playId === undefined || play_address_key === undefined) continue;
    addKey(plays, episodeId, playId, listener_key);
  }
  return plays;
}

/**
 * Until the transaction ends no other transaction adds a key to these plays: of two keys that come at once, the later sees the other. Plays
 * share 256 locks, because a batch may have thousands of plays, and PostgreSQL has room for some thousand advisory locks in all.
 */
async function lockPlays(tx: Transaction, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await tx.query(
    `select pg_advisory_xact_lock(number)
     from (select distinct hashtextextended(name, 0) & 255 as number from unnest($1::text[]) name order by 1) in_order`,
    [names],
  );
}

/** The stored links of these keys to those before and after them, and the stored keys of their plays and of these plays. */
async function findLinks(
  tx: Transaction,
  rows: readonly ListenerEpisode[],
  added: ReadonlyMap<string, PlayKeys>,
): Promise<Links> {
  const { rows: found } = await tx.query<
    (Required<ListenerEpisode> & { readonly play_id: null }) | (ListenerEpisode & { readonly play_id: string })
  >(
    `with touched as materialized (select distinct listener_key, episode_id
       from json_populate_recordset(null::listener_episode, $1)),
     play as materialized (
       select r.* from touched t cross join lateral (
         select distinct r.episode_id, r.play_id from served_request r
         where r.listener_key = t.listener_key and r.episode_id = t.episode_id and r.play_address_key is not null) r
       union select * from json_to_recordset($2) as added(episode_id text, play_id text)),
     link as (
       select l.* from touched t cross join lateral (
         select * from listener_episode l where l.listener_key = t.listener_key and l.episode_id = t.episode_id offset 0) l
         where l.previous_listener_key is not null
       union
       select l.* from touched t cross join lateral (
         select * from listener_episode l where l.previous_listener_key = t.listener_key and l.episode_id = t.episode_id offset 0) l)
     select listener_key, episode_id, previous_listener_key, null as play_id from link
     union all
     select r.listener_key, p.episode_id, null, p.play_id from play p cross join lateral (
       select distinct r.listener_key from served_request r
       where r.episode_id = p.episode_id and r.play_id = p.play_id and r.play_address_key is not null limit $3) r`,
    [
      JSON.stringify(rows),
      JSON.stringify([...added.values()].map(({ episodeId, playId }) => ({ episode_id: episodeId, play_id: playId }))),
      maxKeysOfPlay + 1,
    ],
  );
  const previous: Required<ListenerEpisode>[] = [];
  const plays = new Map<string, PlayKeys>();
  for (const row of found) {
    if (row.play_id === null) {
      previous.push(row);
      continue;
    }
    addKey(plays, row.episode_id, row.play_id, row.listener_key);
  }
  return { previous, plays };
}

/**
 * Locks the chains that these facts can change. Until the transaction ends no other transaction counts these listeners and episodes, under
 * this month's key or one that is linked to it, by the change of secrets (docs/counting.md#the-three-windows) or by a play
 * (docs/counting.md#one-play-several-keys).
 */
export async function lockChains(tx: Transaction, facts: readonly ServedBytes[]): Promise<LockedChains> {
  const added = playsOf(facts);
  await lockPlays(tx, [...added.keys()]);
  const touched = new Map<string, ListenerEpisode & { sinceMs: number }>();
  for (const { listener_key, episode_id, previous_listener_key, started_at } of facts) {
    const row = { listener_key, episode_id, previous_listener_key };
    const known = touched.get(listenerEpisodeName(row));
    touched.set(listenerEpisodeName(row), {
      ...row,
      previous_listener_key: previous_listener_key ?? known?.previous_listener_key,
      sinceMs: Math.min(known?.sinceMs ?? Infinity, Date.parse(started_at)),
    });
  }
  const locked = new Set<string>();
  const lockAll = async (rows: readonly ListenerEpisode[]) => {
    const fresh = new Map<string, ListenerEpisode>();
    for (const row of rows) {
      const previous = row.previous_listener_key;
      if (!locked.has(listenerEpisodeName(row))) fresh.set(listenerEpisodeName(row), row);
      const before = { listener_key: previous ?? '', episode_id: row.episode_id };
      if (previous != null && !locked.has(listenerEpisodeName(before)) && !fresh.has(listenerEpisodeName(before)))
        fresh.set(listenerEpisodeName(before), before);
    }
    if (fresh.size > 0) await lock(tx, [...fresh.values()]);
    for (const one of fresh.keys()) locked.add(one);
    return fresh.size > 0;
  };
  // Links are read before locking, so that one statement nearly always locks all rows in order, and read again after it. Rolling windows
  // reach back as far as somebody listens every day, so links are followed to their ends.
  const known = new Map<string, ListenerEpisode>(touched);
  const know = (one: ListenerEpisode) => {
    if (!known.has(listenerEpisodeName(one))) known.set(listenerEpisodeName(one), one);
    if (one.previous_listener_key != null)
      know({ listener_key: one.previous_listener_key, episode_id: one.episode_id });
  };
  touched.forEach(know);
  const follow = async () => {
    for (;;) {
      const asked = known.size;
      const links = await findLinks(tx, [...known.values()], added);
      links.previous.forEach(know);
      const joining = playsThatJoin(links.plays, added);
      for (const { episodeId, keys } of joining)
        for (const key of keys) know({ listener_key: key, episode_id: episodeId });
      if (known.size === asked) return { ...links, joining };
    }
  };
  let links = await follow();
  while (await lockAll([...touched.values(), ...links.previous, ...known.values()])) links = await follow();
  const crowded = [...links.plays.values()].filter(({ keys }) => keys.size > maxKeysOfPlay);
  return {
    chains: joinChains([...touched.values()], links.previous, links.joining),
    crowded: new Set(crowded.map(({ playId }) => playId)),
  };
}

/**
 * The plays whose keys are counted together, with the keys of the new facts: those that have not had too many keys before. One that gets
 * too many now joined some until now, so all of them are counted anew.
 */
function playsThatJoin(stored: ReadonlyMap<string, PlayKeys>, added: ReadonlyMap<string, PlayKeys>): PlayKeys[] {
  return [...new Set([...stored.keys(), ...added.keys()])].flatMap((name) => {
    const known = stored.get(name);
    if (known !== undefined && known.keys.size > maxKeysOfPlay) return [];
    const { keys, ...play } = (known ?? added.get(name))!;
    return [{ ...play, keys: keys.union(added.get(name)?.keys ?? new Set()) }];
  });
}

/** Joins linked keys into chains. */
function joinChains(
  touched: readonly (ListenerEpisode & { readonly sinceMs: number })[],
  previous: readonly Required<ListenerEpisode>[],
  plays: readonly PlayKeys[],
): ListenerEpisodeChain[] {
  const [own, chains] = [createDisjointSets(), createDisjointSets()];
  const nameOf = (key: string, episodeId: string) => `${key} ${episodeId}`;
  const keys = new Map<string, { readonly key: string; readonly episodeId: string; sinceMs: number }>();
  const add = (key: string, episodeId: string, sinceMs = Infinity) => {
    const name = nameOf(key, episodeId);
    const known = keys.get(name) ?? { key, episodeId, sinceMs };
    known.sinceMs = Math.min(known.sinceMs, sinceMs);
    keys.set(name, known);
    return name;
  };
  for (const row of touched) add(row.listener_key, row.episode_id, row.sinceMs);
  for (const link of previous) {
    const name = add(link.listener_key, link.episode_id);
    const before = add(link.previous_listener_key, link.episode_id);
    own.join(name, before);
    chains.join(name, before);
  }
  for (const { episodeId, playId, keys: used } of plays)
    for (const key of used) chains.join(add(key, episodeId), playName(episodeId, playId));
  return [...Map.groupBy(keys.entries(), ([name]) => chains.setOf(name)).values()].map((grown) => {
    const { episodeId } = grown[0]![1];
    return {
      keys: grown.map(([, { key }]) => key),
      episodeId,
      sinceMs: Math.min(...grown.map(([, { sinceMs }]) => sinceMs)),
      ownKeysOf: (key: string) => own.setOf(nameOf(key, episodeId)),
    };
  });
}
