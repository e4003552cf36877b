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
      window = { hour, served: new Float64Array(windowHours), opportunities: new Float64Array(windowHours) };
      windows.set(ordinal, window);
    }
    for (let passed = Math.max(window.hour, hour - windowHours) + 1; passed <= hour; passed++) {
      window.served[passed % windowHours] = 0;
      window.opportunities[passed % windowHours] = 0;
    }
    window.hour = Math.max(window.hour, hour);
    return window;
  };
  const sum = (values: Float64Array) => values.reduce((all, one) => all + one, 0);
  return {
    shareOf: (ordinal, atMs) => {
      const { served, opportunities } = at(ordinal, atMs);
      return { served: sum(served), opportunities: sum(opportunities) };
    },
    add: (ordinal, atMs, served, opportunities) => {
      const window = at(ordinal, atMs);
      window.served[window.hour % windowHours]! += served;
      window.opportunities[window.hour % windowHours]! += opportunities;
    },
  };
}
