import type { Answer } from '../../api/queries.ts';

type Overview = Answer<'/podcasts/{id}/overview'>;

/** Sums over podcasts. Listeners are none of them: the same person listens to several. */
export interface Totals {
  /** Undefined where no podcast has numbers, as without analytics in the plan. */
  readonly downloads: number | undefined;
  readonly published: number;
  readonly drafts: number;
  readonly scheduled: number;
}

/** Adds up what can be added: downloads of the last 7 days, and episodes by their state. */
export function totalsOf(overviews: readonly Pick<Overview, 'downloads' | 'episodes'>[]): Totals {
  const counted = overviews.flatMap(({ downloads }) => downloads?.last_7_days ?? []);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    downloads: counted.length > 0 ? sum(counted) : undefined,
    published: sum(overviews.map(({ episodes }) => episodes.published)),
    drafts: sum(overviews.map(({ episodes }) => episodes.drafts)),
    scheduled: sum(overviews.map(({ episodes }) => episodes.scheduled)),
  };
}
