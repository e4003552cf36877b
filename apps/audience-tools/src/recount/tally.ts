import { windows, type Window } from '@longwave/audience';

/** Downloads and their listeners. Listeners are distinct keys, so never sum them. */
export interface Counted {
  downloads: number;
  listeners: number;
}

/** Ads of one line item: all delivered ones, and the billed ones among them. */
export interface CountedAds {
  delivered: number;
  billable: number;
}

/** Downloads of one window by the keys of `placeKeys`. */
export interface WindowTally {
  readonly podcasts: Map<string, Counted>;
  readonly episodes: Map<string, Counted>;
  readonly days: Map<string, Counted>;
}

/** Half-open; undefined: no bound. */
export interface CountRange {
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

/** The numbers of a range. */
export interface Tally {
  readonly windows: Readonly<Record<Window, WindowTally>>;
  /** Ads of downloads of the window calendar_utc, by `lineItemKey`. */
  readonly ads: Map<string, CountedAds>;
  /** Facts by judgement, from a closed list. */
  readonly facts: Map<string, number>;
  /** Downloads of the window calendar_utc that rule 16 holds, by reason code; no other number has them. */
  readonly held: Map<string, number>;
}

/** The place and day of a download. */
export interface Place {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  /** UTC date, `YYYY-MM-DD`. */
  readonly day: string;
}

export const placeKeys = {
  podcasts: (place: Place) => JSON.stringify([place.workspaceId, place.podcastId]),
  episodes: (place: Place) => JSON.stringify([place.workspaceId, place.podcastId, place.episodeId]),
  days: (place: Place) => JSON.stringify([place.workspaceId, place.podcastId, place.episodeId, place.day]),
} as const satisfies Record<keyof WindowTally, (place: Place) => string>;

export const placeLevels = ['podcasts', 'episodes', 'days'] as const satisfies (keyof WindowTally)[];

export const lineItemKey = (workspaceId: string, lineItemId: string) => JSON.stringify([workspaceId, lineItemId]);

/** The parts of a key. */
export const keyParts = (key: string) => JSON.parse(key) as string[];

export function createTally(): Tally {
  const [calendar, first, last] = windows.map(() => ({ podcasts: new Map(), episodes: new Map(), days: new Map() }));
  return {
    windows: { calendar_utc: calendar!, first_touch_24h: first!, last_touch_24h: last! },
    ads: new Map(),
    facts: new Map(),
    held: new Map(),
  };
}

export function addTo(numbers: Map<string, number>, key: string, count: number): void {
  numbers.set(key, (numbers.get(key) ?? 0) + count);
}

export function addAds(tally: Tally, key: string, { delivered, billable }: CountedAds): void {
  const sum = tally.ads.get(key) ?? { delivered: 0, billable: 0 };
  sum.delivered += delivered;
  sum.billable += billable;
  tally.ads.set(key, sum);
}

/**
 * Adds downloads one by one. All downloads of a listener must go to one counter, which tells listeners apart.
 */
export function downloadCounter(tally: Tally): (window: Window, place: Place, listenerKey: string) => void {
  const seen = new Set<string>();
  return (window, place, listenerKey) => {
    for (const level of placeLevels) {
      const numbers = tally.windows[window][level];
      const key = placeKeys[level](place);
      const sum = numbers.get(key) ?? { downloads: 0, listeners: 0 };
      numbers.set(key, sum);
      sum.downloads += 1;
      const listener = `${window} ${key} ${listenerKey}`;
      if (seen.has(listener)) continue;
      seen.add(listener);
      sum.listeners += 1;
    }
  };
}
