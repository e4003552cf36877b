import type { PlanLineItem } from '@longwave/events';
import type { SamplePlay } from '@longwave/forecasting';

/** The place of values that few plays have. */
const other = 'other';
/** Share of hidden values from which a count of plays that fit says too little. */
const maxHidden = 0.2;

const dimensions = {
  countries: 'country',
  regions: 'region',
  devices: 'device',
  operating_systems: 'operatingSystem',
  apps: 'app',
} as const;

/** Whether a line item targets by something that the sample hides for a good part of the plays (docs/privacy.md). */
export function hidesTargeted({ targeting }: Pick<PlanLineItem, 'targeting'>, plays: readonly SamplePlay[]): boolean {
  return Object.entries(dimensions).some(([name, field]) => {
    const lists = targeting[name as keyof typeof dimensions];
    if (!lists || lists.include.length + lists.exclude.length === 0) return false;
    let [hidden, all] = [0, 0];
    for (const play of plays) {
      all += play.weight;
      if (play[field] === other) hidden += play.weight;
    }
    return hidden > maxHidden * all;
  });
}
