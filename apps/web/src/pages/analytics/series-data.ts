import type { Answer } from '../../api/queries.ts';
import {
  addDays,
  axisText,
  bucketText,
  dayIn,
  isUnfinished,
  lastDayOf,
  rangeText,
  type Step,
} from '../../parts/chart/calendar.ts';
import type { ChartData, ChartPoint, ChartWall } from '../../parts/chart/chart-data.ts';
import { fieldsOf, instantIn } from '../../parts/form/zone-time.ts';
import type { TimePlace } from '../../parts/format.ts';
import { episodePlace } from '../podcasts/episode-place.ts';
import type { DayRange } from './analytics-search.ts';

export type Series = Answer<'/podcasts/{id}/analytics'>;
type Meta = Series['meta'];

const hourMs = 3_600_000;

/** The downloads of a range. Downloads may be added; listeners of its buckets may not. */
export const totalOf = ({ objects }: Pick<Series, 'objects'>): number =>
  objects.reduce((sum, { downloads }) => sum + downloads, 0);

/** How much of what was asked for the plan does not show; undefined where it shows all of it. */
export function wallOf({ history_window: cut, timerange: { to } }: Meta): ChartWall | undefined {
  if (!cut) return undefined;
  const [asked, shown, end] = [cut.requested_from, cut.from, to].map((at) => Date.parse(at)) as [
    number,
    number,
    number,
  ];
  return end <= asked ? undefined : { share: (shown - asked) / (end - asked) };
}

/**
 * The end of the days before, for a fair comparison: while the last days of a range are not counted, their counterparts end when clocks showed the same time.
 * @param to the last day of the days before; @param days how many days lie between a day and its counterpart
 * @param zone of the days
 * @returns a day, which is asked for with all of it, or an instant
 */
export function endBefore({ incomplete_from: from }: Meta, to: string, days: number, zone: string): string {
  if (from === undefined) return to;
  const { day: ownDay, time } = fieldsOf(new Date(Date.parse(from) + hourMs).toISOString(), zone);
  const day = addDays(ownDay, -days);
  return day > to ? to : (instantOf(day, time, zone) ?? to);
}

/** The instant of a time; of one that clocks jump over, the same minute an hour later. */
function instantOf(day: string, time: string, zone: string): string | undefined {
  const found = instantIn(day, time, zone);
  if (found.kind === 'one') return found.at;
  if (found.kind === 'fold') return found.first;
  const later = new Date(Date.parse(`${day}T${time}Z`) + hourMs).toISOString();
  const after = instantIn(later.slice(0, 10), later.slice(11, 16), zone);
  return after.kind === 'one' ? after.at : undefined;
}

/** An episode on the course of its podcast. */
export interface Episode {
  readonly at: string;
  readonly place: string;
}

/** What an episode is called where there is little room: by its number, else by the beginning of its title. */
export const shortName = (season: number | undefined, number: number | undefined, title: string): string =>
  episodePlace(season, number) || (title.length > 14 ? `${title.slice(0, 13).trimEnd()}…` : title);

/** The name of the first episode that was published in a bucket, and how many more were; undefined without any. */
function markOf(date: string, step: Step, episodes: readonly Episode[], zone: string): string | undefined {
  if (step === 'month') return undefined;
  const [from, last] = [date.slice(0, 10), lastDayOf(date, step)];
  const inBucket = ({ at }: Episode) => {
    if (step === 'hour') return Date.parse(at) >= Date.parse(date) && Date.parse(at) < Date.parse(date) + hourMs;
    const day = dayIn(zone, new Date(at));
    return day >= from && day <= last;
  };
  const [first, ...others] = episodes.filter(inBucket).toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return first && `${first.place}${others.length > 0 ? ` +${others.length}` : ''}`;
}

/** The days of a bucket of which the range has only a part; undefined where it has all of it. */
function partOf(date: string, step: Step, { timerange }: Meta, zone: string): DayRange | undefined {
  if (step !== 'week' && step !== 'month') return undefined;
  const [first, last] = [dayIn(zone, new Date(timerange.from)), dayIn(zone, new Date(Date.parse(timerange.to) - 1))];
  const end = lastDayOf(date, step);
  if (first > end || (first <= date && end <= last)) return undefined;
  return { from: first > date ? first : date, to: last < end ? last : end };
}

/**
 * Downloads over time beside those of the time before, bucket by bucket. Leading months without a download are left out where a range has no beginning of its own.
 * @param names of the two series
 */
export function chartOf(
  { meta, objects }: Series,
  before: Pick<Series, 'objects'> | undefined,
  episodes: readonly Episode[],
  names: { readonly own: string; readonly before: string },
  isOpenRange: boolean,
  place: TimePlace,
): ChartData {
  const { aggregation_granularity: step, complete_until: until } = meta;
  const wall = wallOf(meta);
  const first =
    isOpenRange && !wall
      ? Math.max(
          0,
          objects.findIndex(({ downloads }) => downloads > 0),
        )
      : 0;
  const points = objects.slice(first).map(({ date, downloads }, at): ChartPoint => {
    const mark = markOf(date, step, episodes, place.zone);
    const unfinished = isUnfinished(date, step, until, place.zone);
    const part = partOf(date, step, meta, place.zone);
    return {
      key: date,
      title: part ? rangeText(part.from, part.to, place.language) : bucketText(date, step, place),
      short: axisText(date, step, place),
      values: before ? [downloads, before.objects[at]?.downloads] : [downloads],
      isUnfinished: unfinished,
      ...(part && !unfinished && { isPart: true }),
      ...(mark !== undefined && { mark }),
    };
  });
  const series = [
    { name: names.own, look: 'own' as const },
    ...(before ? [{ name: names.before, look: 'before' as const }] : []),
  ];
  return { series, points, ...(wall && { wall }) };
}
