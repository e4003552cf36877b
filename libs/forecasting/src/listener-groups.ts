import { seedOf } from '@longwave/ad-decision';
import type { SamplePlay } from './sample-play.ts';

/** Groups of listeners for the jackknife. */
const listenerGroups = 20;

/** The group of a play's listener; plays without one are spread by their place in the sample. */
export const listenerGroupOf = ({ listener }: Pick<SamplePlay, 'listener'>, place: number): number =>
  listener === '' ? place % listenerGroups : seedOf(listener) % listenerGroups;

/** What a sample says of one podcast, by group of listeners. */
interface PodcastSums {
  readonly all: Float64Array;
  readonly part: Float64Array;
}

/** Sums whose sampling error is asked for: a part of all, where all is known per podcast. */
export interface GroupSums {
  readonly add: (podcastId: string, group: number, all: number, part: number) => void;
  /**
   * Standard error of the part relative to it, where the whole of each podcast is known and its share is estimated: leaving out one
   * group of listeners after another (delete-a-group jackknife, Kott 2001). 0 without a part.
   */
  readonly relativeError: () => number;
}

export function createGroupSums(): GroupSums {
  const podcasts = new Map<string, PodcastSums>();
  const sum = (values: Float64Array) => values.reduce((total, one) => total + one, 0);
  return {
    add: (podcastId, group, all, part) => {
      let sums = podcasts.get(podcastId);
      if (!sums) {
        sums = { all: new Float64Array(listenerGroups), part: new Float64Array(listenerGroups) };
        podcasts.set(podcastId, sums);
      }
      sums.all[group]! += all;
      sums.part[group]! += part;
    },
    relativeError: () => {
      const without = new Float64Array(listenerGroups);
      let estimate = 0;
      for (const { all, part } of podcasts.values()) {
        const [allSum, partSum] = [sum(all), sum(part)];
        estimate += partSum;
        for (let group = 0; group < listenerGroups; group++) {
          const left = allSum - all[group]!;
          without[group]! += left > 0 ? (allSum * (partSum - part[group]!)) / left : partSum;
        }
      }
      if (estimate === 0) return 0;
      const mean = sum(without) / listenerGroups;
      const squares = without.reduce((total, one) => total + (one - mean) ** 2, 0);
      return Math.sqrt(((listenerGroups - 1) / listenerGroups) * squares) / estimate;
    },
  };
}
