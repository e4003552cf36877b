import { hourMs, weekHours } from './curve-sums.ts';
import type { LocalTime } from './local-time.ts';
import type { Cadence, ExpectedEpisode } from './traffic-model.ts';

/** Releases that say how often and when a podcast comes out. */
const maxReleases = 8;
const weeksBack = 8;
const weekMs = weekHours * hourMs;

export const medianOf = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

const noCadence: Cadence = { slots: [], gapMs: 0 };

/**
 * When a podcast releases, by its last 8 releases, two at least: one slot per weekday where it comes weekly or more often, or one slot each second,
 * third … week. Nothing is expected of a podcast that has been silent
 * for two and a half times its usual gap and half as long again as its longest of late.
 * @param releasesMs ascending, all of the past
 */
export function findCadence(releasesMs: readonly number[], nowMs: number, { weekHourOf }: LocalTime): Cadence {
  const recent = releasesMs.slice(-maxReleases - 1);
  if (recent.length < 2) return noCadence;
  const gaps = recent.slice(1).map((at, before) => at - recent[before]!);
  const gapMs = medianOf(gaps);
  if (nowMs - recent.at(-1)! > Math.max(2.5 * gapMs, 1.5 * Math.max(...gaps))) return noCadence;
  const everyWeeks = Math.max(1, Math.round(gapMs / weekMs));
  const weekHour = (atMs: number) => weekHourOf(Math.floor(atMs / hourMs));
  if (everyWeeks > 1) {
    const span = nowMs - recent[0]! + weekMs / 2;
    const last = recent.at(-1)!;
    const usual = modeOf(recent.map(weekHour));
    // The slot that the last release belongs to, should it have been a day early or late.
    const shift = ((((usual - weekHour(last)) % weekHours) + weekHours + weekHours / 2) % weekHours) - weekHours / 2;
    const hitRate = Math.min(1, recent.length / Math.max(1, Math.round(span / (everyWeeks * weekMs))));
    return { gapMs, slots: [{ weekHour: usual, everyWeeks, lastAtMs: last + shift * hourMs, hitRate }] };
  }
  const weeks = Math.min(weeksBack, Math.max(1, Math.round((nowMs - releasesMs[0]!) / weekMs)));
  const counted = releasesMs.filter((atMs) => atMs > nowMs - weeks * weekMs);
  const slots = Array.from({ length: 7 }, (_, weekday) =>
    counted.filter((at) => Math.floor(weekHour(at) / 24) === weekday),
  )
    .filter((own) => own.length > 0)
    .map((own) => ({
      weekHour: modeOf(own.map(weekHour)),
      everyWeeks: 1,
      lastAtMs: own.at(-1)!,
      hitRate: Math.min(1, own.length / weeks),
    }));
  return { gapMs, slots };
}

function modeOf(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]![0];
}

/**
 * The episodes that the cadence expects in a window, without those near a release that is known already.
 * @param known times of episodes that are out or scheduled
 */
export function expectEpisodes(
  { slots, gapMs }: Cadence,
  {
    nowMs,
    untilMs,
    known,
    level,
  }: { readonly nowMs: number; readonly untilMs: number; readonly known: readonly number[]; readonly level: number },
): readonly ExpectedEpisode[] {
  return slots.flatMap(({ everyWeeks, lastAtMs, hitRate }) => {
    const expected: ExpectedEpisode[] = [];
    for (let atMs = lastAtMs + everyWeeks * weekMs; atMs < untilMs; atMs += everyWeeks * weekMs) {
      if (atMs <= nowMs || known.some((one) => Math.abs(one - atMs) < gapMs / 2)) continue;
      expected.push({ publishedAtMs: atMs, level, probability: hitRate });
    }
    return expected;
  });
}
