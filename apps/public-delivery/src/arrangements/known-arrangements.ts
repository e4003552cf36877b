import type { Pool } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';
import {
  findArrangement,
  saveArrangement,
  shortIdOf,
  type NewArrangement,
  type StoredArrangement,
} from './arrangement-table.ts';

/** Arrangements that are in use. None changes once it is stored, so each is read and checked once. */
export interface KnownArrangements {
  /** By its id or by the short id of 32 characters that tokens carry. */
  find(id: string): Promise<StoredArrangement | undefined>;
  /** Whether it is known to be stored; does not ask the database. */
  has(id: string): boolean;
  /** Stores one for ever, unless it is known to be stored. */
  save(arrangement: NewArrangement): Promise<void>;
  /** Remembers an arrangement that was just stored. */
  keep(arrangement: StoredArrangement): void;
}

/** @param maxKept arrangements that stay in memory, the most recently used; 1,000 take about ten megabytes */
export function createKnownArrangements(pool: Pick<Pool, 'query'>, maxKept = 1_000): KnownArrangements {
  const kept = new LRUCache<string, StoredArrangement>({ max: maxKept });
  const keep = ({ id, workspaceId, podcastId, episodeId, publishedAt, document }: StoredArrangement) =>
    void kept.set(shortIdOf(id), { id, workspaceId, podcastId, episodeId, publishedAt, document });
  const has = (id: string) => kept.get(shortIdOf(id)) !== undefined;
  return {
    has,
    keep,
    save: async (arrangement) => {
      if (has(arrangement.id)) return;
      await saveArrangement(pool, arrangement);
      keep(arrangement);
    },
    find: async (id) => {
      const known = kept.get(shortIdOf(id));
      if (known) return known;
      const arrangement = await findArrangement(pool, id);
      if (arrangement) keep(arrangement);
      return arrangement;
    },
  };
}
