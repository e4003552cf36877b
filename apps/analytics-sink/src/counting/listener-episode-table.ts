import { columns, type JsonRows } from '@longwave/audience-store';
import type { ByteRangeServed } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';

/** A listener's key and an episode. */
export type ListenerEpisode = Readonly<Pick<JsonRows['listener_episode'], 'listener_key' | 'episode_id'>> & {
  readonly previous_listener_key?: string | undefined;
};

/** The keys of one listener for one episode that may share a window, and the earliest start among the new facts. */
export interface ListenerEpisodeChain {
  readonly keys: readonly string[];
  readonly episodeId: string;
  readonly sinceMs: number;
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

async function findLinks(tx: Transaction, rows: readonly ListenerEpisode[]): Promise<Required<ListenerEpisode>[]> {
  const { rows: links } = await tx.query<Required<ListenerEpisode>>(
    `with touched as materialized (select distinct listener_key, episode_id
       from json_populate_recordset(null::listener_episode, $1))
     select l.* from touched t cross join lateral (
       select * from listener_episode l where l.listener_key = t.listener_key and l.episode_id = t.episode_id offset 0) l
       where l.previous_listener_key is not null
     union
     select l.* from touched t cross join lateral (
       select * from listener_episode l where l.previous_listener_key = t.listener_key and l.episode_id = t.episode_id offset 0) l`,
    [JSON.stringify(rows)],
  );
  return links;
}

/**
 * Locks the chains that these facts can change. Until the transaction ends no other transaction counts these listeners and episodes, under
 * this month's key or one that is linked to it (docs/counting.md#the-three-windows).
 */
export async function lockChains(tx: Transaction, facts: readonly ByteRangeServed[]): Promise<ListenerEpisodeChain[]> {
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
      const links = await findLinks(tx, [...known.values()]);
      links.forEach(know);
      if (known.size === asked) return links;
    }
  };
  let links = await follow();
  while (await lockAll([...touched.values(), ...links])) links = await follow();
  return joinChains([...touched.values()], links);
}

/** Joins linked keys into chains. */
function joinChains(
  touched: readonly (ListenerEpisode & { readonly sinceMs: number })[],
  links: readonly Required<ListenerEpisode>[],
): ListenerEpisodeChain[] {
  type Growing = { readonly keys: Set<string>; readonly episodeId: string; sinceMs: number };
  const chains = new Map<string, Growing>();
  const join = (episodeId: string, keys: readonly string[], sinceMs: number) => {
    const chain: Growing = { keys: new Set(keys), episodeId, sinceMs };
    for (const key of keys) {
      const other = chains.get(`${key} ${episodeId}`);
      if (other === undefined) continue;
      other.keys.forEach((one) => chain.keys.add(one));
      chain.sinceMs = Math.min(chain.sinceMs, other.sinceMs);
    }
    for (const key of chain.keys) chains.set(`${key} ${episodeId}`, chain);
  };
  for (const row of touched) join(row.episode_id, [row.listener_key], row.sinceMs);
  for (const link of links) join(link.episode_id, [link.listener_key, link.previous_listener_key], Infinity);
  return [...new Set(chains.values())].map((chain) => ({ ...chain, keys: [...chain.keys] }));
}
