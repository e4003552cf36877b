import { expect, test } from '@jest/globals';
import { simulatePacing } from '@longwave/pacing/simulation';
import { sellWhatIsLeft } from '../src/sell-what-is-left.ts';

// The first seeds that were tried. Of goals of some thousand units the reserve for late deliveries keeps 1 to 4 per cent, so what is asked
// here is that every goal has its slots. `npm run bench -- pacing` has larger goals, faults, lags and episodes of unknown levels.
test.each([301, 302])(
  'where everything that availability leaves is sold every goal has its slots, but for half a per cent, none is 5 per cent short, and none is exceeded (seed %i)',
  (seed) => {
    const result = simulatePacing({
      ...{ seed, days: 5, playsPerDay: 12_000, spikes: 0.55, noise: 0, booked: 0.8, lagMs: 0, faults: false },
      ...{ deliveryRate: 0.82, lastDayRate: 0.82, tickMs: 120_000, sell: sellWhatIsLeft(0.82, 2_000) },
    });
    expect(result.booked).toBeGreaterThan(60);
    expect(result.uncommittedWorst).toBeLessThanOrEqual(0.5);
    expect(result.shortWorst).toBeLessThanOrEqual(5);
    expect(result.shortAll).toBeLessThanOrEqual(2);
    expect(Math.max(result.over, result.overReserved, result.overDay, result.overBudget)).toBeLessThanOrEqual(0);
    expect(result.shareOff).toBeLessThanOrEqual(1);
    expect(result.broken).toBe(0);
  },
);
