import type { Share } from '@longwave/ad-decision';

const hourMs = 3_600_000;
const windowHours = 24;

/** Shares of breaks of the last 24 hours, by ordinal (docs/pacing.md). */
export interface SimulatedShares {
  readonly shareOf: (ordinal: number, atMs: number) => Share;
  readonly add: (ordinal: number, atMs: number, served: number, opportunities: number) => void;
}

interface Window {
  hour: number;
  readonly sum: { served: number; opportunities: number };
  readonly served: Float64Array;
  readonly opportunities: Float64Array;
}

export function createShares(): SimulatedShares {
  const windows = new Map<number, Window>();
  /** The window at a time, without what is older. */
  const at = (ordinal: number, atMs: number) => {
    const hour = Math.floor(atMs / hourMs);
    let window = windows.get(ordinal);
    if (!window) {
      window = {
        ...{ hour, sum: { served: 0, opportunities: 0 } },
        served: new Float64Array(windowHours),
        opportunities: new Float64Array(windowHours),
      };
      windows.set(ordinal, window);
    }
    for (let passed = Math.max(window.hour, hour - windowHours) + 1; passed <= hour; passed++) {
      const place = passed % windowHours;
      window.sum.served -= window.served[place]!;
      window.sum.opportunities -= window.opportunities[place]!;
      window.served[place] = 0;
      window.opportunities[place] = 0;
    }
    window.hour = Math.max(window.hour, hour);
    return window;
  };
  return {
    shareOf: (ordinal, atMs) => {
      const { served, opportunities } = at(ordinal, atMs).sum;
      return { served, opportunities };
    },
    add: (ordinal, atMs, served, opportunities) => {
      const window = at(ordinal, atMs);
      window.served[window.hour % windowHours]! += served;
      window.opportunities[window.hour % windowHours]! += opportunities;
      window.sum.served += served;
      window.sum.opportunities += opportunities;
    },
  };
}
