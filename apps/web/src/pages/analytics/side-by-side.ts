import { changeFrom } from './typical.ts';
import { totalOf, type Series } from './series-data.ts';

/** A podcast beside others. */
export interface PodcastRow {
  readonly id: string;
  readonly title: string;
  /** Undefined until they are known. */
  readonly downloads: number | undefined;
  /** Those of the time before; undefined where there is nothing to compare with. */
  readonly before: number | undefined;
  readonly change: number | undefined;
  readonly course: readonly number[];
}

/** Downloads of a podcast beside those of the time before. A range or a time before that the plan cuts compares with nothing. */
export function rowOf(
  { id, title }: Pick<PodcastRow, 'id' | 'title'>,
  series: Series | undefined,
  former: Series | undefined,
): PodcastRow {
  const downloads = series && totalOf(series);
  const isWhole = former !== undefined && !former.meta.history_window && !series?.meta.history_window;
  const before = isWhole ? totalOf(former) : undefined;
  const change = downloads === undefined ? undefined : changeFrom(downloads, before);
  return { id, title, downloads, before, change, course: series?.objects.map((bucket) => bucket.downloads) ?? [] };
}

/** Sums of podcasts; undefined while one of them is missing. Downloads may be added, listeners may not. */
export function sumOf(rows: readonly PodcastRow[]): {
  readonly downloads: number | undefined;
  readonly before: number | undefined;
} {
  const sum = (values: readonly (number | undefined)[]) =>
    values.reduce<number | undefined>(
      (total, value) => (total === undefined || value === undefined ? undefined : total + value),
      0,
    );
  return { downloads: sum(rows.map(({ downloads }) => downloads)), before: sum(rows.map(({ before }) => before)) };
}
