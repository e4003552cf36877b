/** Values by key, the least recently used ones forgotten when there is no room. */
export interface RecentlyUsed<V> {
  /** Using a value makes it the last to go. */
  find(key: string): V | undefined;
  /** @param size in the unit of `room` */
  keep(key: string, value: V, size: number): void;
  /** Together, in the unit of `room`. */
  readonly size: number;
}

/** @param room what all values together may take; the newest one is kept even when it alone takes more */
export function createRecentlyUsed<V>(room: number): RecentlyUsed<V> {
  const values = new Map<string, { readonly value: V; readonly size: number }>();
  let total = 0;
  const forget = (key: string) => {
    total -= values.get(key)?.size ?? 0;
    values.delete(key);
  };
  return {
    find: (key) => {
      const found = values.get(key);
      if (!found) return undefined;
      values.delete(key);
      values.set(key, found);
      return found.value;
    },
    keep: (key, value, size) => {
      forget(key);
      values.set(key, { value, size });
      total += size;
      for (const oldest of values.keys()) {
        if (total <= room || values.size === 1) break;
        forget(oldest);
      }
    },
    get size() {
      return total;
    },
  };
}
