/** What simulated listeners heard: the frequency records of a simulation, whose plays come in time order. */
export interface SimulatedListeners {
  /** Servings under a key of a cap (`capKeysOf`) since a time. */
  readonly count: (listener: string, capKey: string, sinceMs: number) => number;
  readonly hear: (listener: string, capKeys: readonly string[], atMs: number) => void;
}

export function createListeners(): SimulatedListeners {
  const heard = new Map<string, Map<string, number[]>>();
  return {
    count: (listener, capKey, sinceMs) => {
      const times = heard.get(listener)?.get(capKey);
      if (!times) return 0;
      let count = 0;
      for (let at = times.length - 1; at >= 0 && times[at]! >= sinceMs; at--) count++;
      return count;
    },
    hear: (listener, capKeys, atMs) => {
      if (listener === '' || capKeys.length === 0) return;
      let record = heard.get(listener);
      if (!record) heard.set(listener, (record = new Map()));
      for (const key of capKeys) {
        const times = record.get(key);
        if (times) times.push(atMs);
        else record.set(key, [atMs]);
      }
    },
  };
}
