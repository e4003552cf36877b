import type { Answer } from '../../api/queries.ts';
import { changeFrom, isOldEnough, typicalOf } from './typical.ts';

type Counts = Answer<'/podcasts/{id}/analytics/episodes'>;

/** An episode in the table of numbers. */
export interface EpisodeRow {
  readonly id: string;
  /** Null for one that is not known any more. */
  readonly title: string | null;
  readonly publishedAt: string | null;
  /** Downloads of its first days; undefined where the plan does not show them. */
  readonly first: number | undefined;
  /** Whether its first days are not over. */
  readonly isYoung: boolean;
  /** How far its first days are from those of a typical episode; undefined while they are not over, or nothing is typical. */
  readonly against: number | undefined;
  readonly inRange: number;
}

/** Episodes of a range, each with its first days. */
export function rowsOf(
  inRange: Pick<Counts, 'objects'>,
  atAge: Pick<Counts, 'objects' | 'meta'>,
  days: number,
): readonly EpisodeRow[] {
  const until = atAge.meta.complete_until;
  const typical = typicalOf(atAge.objects, days, until);
  const firsts = new Map(atAge.objects.map((one) => [one.episode_id, one.downloads]));
  return inRange.objects.map(({ episode_id: id, title, published_at: publishedAt, downloads }): EpisodeRow => {
    const first = firsts.get(id);
    const isOld = isOldEnough(publishedAt, days, until);
    const against = first === undefined || !isOld ? undefined : changeFrom(first, typical);
    return { id, title, publishedAt, first, isYoung: first !== undefined && !isOld, against, inRange: downloads };
  });
}
