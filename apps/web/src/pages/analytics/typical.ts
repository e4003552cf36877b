import { addDays } from '../../parts/chart/calendar.ts';

/** An episode with its downloads. */
interface Counted {
  readonly published_at: string | null;
  readonly downloads: number;
}

/**
 * Whether all of an episode's first days are counted. Days are those of UTC, that of the publication is the first.
 * @param completeUntil instant up to which everything is counted
 */
export const isOldEnough = (publishedAt: string | null, days: number, completeUntil: string): boolean =>
  publishedAt !== null && addDays(publishedAt.slice(0, 10), days) <= completeUntil.slice(0, 10);

/** How many episodes must be old enough before one of them is called typical. */
const fewest = 3;

/** The median of episodes that are old enough; undefined while there are fewer than three of them. */
export function typicalOf(episodes: readonly Counted[], days: number, completeUntil: string): number | undefined {
  const counts = episodes
    .filter(({ published_at: at }) => isOldEnough(at, days, completeUntil))
    .map(({ downloads }) => downloads)
    .toSorted((a, b) => a - b);
  if (counts.length < fewest) return undefined;
  const middle = (counts.length - 1) / 2;
  return ((counts[Math.floor(middle)] ?? 0) + (counts[Math.ceil(middle)] ?? 0)) / 2;
}

/** How far a number is from another, as a share of it; undefined where there is none to compare with. */
export const changeFrom = (value: number, before: number | undefined): number | undefined =>
  before === undefined || before === 0 ? undefined : value / before - 1;
