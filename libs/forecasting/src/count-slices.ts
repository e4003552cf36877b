import { buildIndex, preparePlay } from '@longwave/ad-decision';
import { anyTargeting, type PlanLineItem } from '@longwave/events';
import { planAlone, type MatchOptions } from './find-matched.ts';
import { createLocalTime } from './local-time.ts';
import type { SamplePlay } from './sample-play.ts';

/** Parts of the local day: night, morning, afternoon, evening. */
const dayparts = 4;
/** A daypart of a podcast has a share of its own from so many rows on. */
const leastRows = 200;

/** Share of a podcast's opportunities that one line item fits in an hour of the local week. */
export interface Slice {
  /** Breaks that fit ÷ slots offered: a line item takes one slot of a break. */
  readonly capacityShare: (podcastId: string, weekHour: number) => number;
  /** Slots of the breaks that fit ÷ slots offered. */
  readonly shareOf: (podcastId: string, weekHour: number) => number;
}

interface Offered {
  readonly rows: Uint32Array;
  readonly slots: Float64Array;
}
type Fitting = Map<string, { readonly breaks: Float64Array; readonly slots: Float64Array }>;

const sum = (values: ArrayLike<number>) => Array.from(values).reduce((all, one) => all + one, 0);
const daypartOf = (weekHour: number) => Math.floor((weekHour % 24) / 6);
const all = '';

/**
 * Counts, in one pass over the sample, what each line item fits by targeting and renditions. Podcasts, episodes, ages and hours are left
 * out: the forecast knows them exactly. A podcast without rows has the shares of all.
 */
export function countSlices(
  lines: readonly PlanLineItem[],
  plays: readonly SamplePlay[],
  { timeZone, ...options }: MatchOptions & { readonly timeZone: string },
): readonly Slice[] {
  const { podcasts, episodes, episode_age_hours, dayparts: anyHour } = anyTargeting;
  const index = buildIndex(
    ...planAlone(
      lines.map((line, at) => ({
        ...line,
        line_item_id: String(at),
        targeting: { ...line.targeting, podcasts, episodes, episode_age_hours, dayparts: anyHour },
      })),
      options,
    ),
  );
  const { weekHourOf } = createLocalTime(timeZone);
  const offered = new Map<string, Offered>();
  const fitting = lines.map((): Fitting => new Map());
  const lineOf = index.lines.map(({ lineItemId }) => Number(lineItemId));
  for (const play of plays) {
    const daypart = daypartOf(weekHourOf(Math.floor(play.atMs / 3_600_000)));
    const keys = [play.podcastId, all];
    for (const key of keys) {
      const found = offered.get(key) ?? { rows: new Uint32Array(dayparts), slots: new Float64Array(dayparts) };
      offered.set(key, found);
      found.rows[daypart]!++;
      for (const { maxSlots } of play.breaks) found.slots[daypart]! += maxSlots * play.weight;
    }
    preparePlay(index, { ...play, decisionId: '', loudnessLufs: undefined }).eligible.forEach(({ bits }, at) => {
      const slots = play.breaks[at]!.maxSlots * play.weight;
      for (let word = 0; word < bits.length; word++)
        for (let rest = bits[word]!; rest !== 0; rest &= rest - 1) {
          const own = fitting[lineOf[word * 32 + 31 - Math.clz32(rest & -rest)]!]!;
          for (const key of keys) {
            const found = own.get(key) ?? { breaks: new Float64Array(dayparts), slots: new Float64Array(dayparts) };
            own.set(key, found);
            found.breaks[daypart]! += play.weight;
            found.slots[daypart]! += slots;
          }
        }
    });
  }
  return fitting.map((own) => sliceOf(offered, own));
}

function sliceOf(offered: ReadonlyMap<string, Offered>, fitting: Fitting): Slice {
  const shareIn = (of: 'breaks' | 'slots') => {
    const shares = new Map<string, Float64Array>();
    const sharesOf = (key: string) => {
      const [from, fits] = [offered.get(key), fitting.get(key)];
      const whole = from && fits ? sum(fits[of]) / sum(from.slots) : 0;
      return Float64Array.from({ length: dayparts }, (_, daypart) =>
        from && fits && from.rows[daypart]! >= leastRows ? fits[of][daypart]! / from.slots[daypart]! : whole,
      );
    };
    return (podcastId: string, weekHour: number) => {
      const key = offered.has(podcastId) ? podcastId : all;
      let found = shares.get(key);
      if (!found) shares.set(key, (found = sharesOf(key)));
      return found[daypartOf(weekHour)]!;
    };
  };
  return { capacityShare: shareIn('breaks'), shareOf: shareIn('slots') };
}
