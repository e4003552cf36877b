import { addBit, createBits, removeBit, type Bits } from './bitset.ts';

/** Half-open [startMs, endMs). */
export interface TimeWindow {
  readonly startMs: number;
  readonly endMs: number;
}

/** Place of the first of `ascending` that is greater than `value`. */
function placeAfter(ascending: Float64Array, value: number): number {
  let low = 0;
  for (let high = ascending.length; low < high;) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The windows that are open at a time. The last answer is kept, and the next one differs from it by the edges between the two times,
 * so a clock that goes on costs one binary search and a copy per edge. Every answer stays as it was given.
 */
export function indexWindows(windows: readonly TimeWindow[]): (atMs: number) => Bits {
  const edges = windows
    .flatMap(({ startMs, endMs }, ordinal) =>
      startMs < endMs
        ? [
            { atMs: startMs, ordinal, opens: true },
            { atMs: endMs, ordinal, opens: false },
          ]
        : [],
    )
    .sort((a, b) => a.atMs - b.atMs);
  const times = Float64Array.from(edges, (edge) => edge.atMs);
  let last = { place: 0, bits: createBits(windows.length) };
  return (atMs) => {
    const place = placeAfter(times, atMs);
    if (place === last.place) return last.bits;
    const bits = last.bits.slice();
    const set = (ordinal: number, open: boolean) => (open ? addBit(bits, ordinal) : removeBit(bits, ordinal));
    for (let at = last.place; at < place; at++) set(edges[at]!.ordinal, edges[at]!.opens);
    for (let at = last.place - 1; at >= place; at--) set(edges[at]!.ordinal, !edges[at]!.opens);
    last = { place, bits };
    return bits;
  };
}

/** Half-open bounds in whole hours; an absent one is open. */
export interface AgeBounds {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

const hourMs = 3_600_000;
/** Sets kept: one per stretch of ages between two bounds that line items name. */
const maxStretches = 64;

const isOfAge = ({ min = 0, max = Infinity }: AgeBounds, ageMs: number) =>
  Math.max(0, ageMs) >= min * hourMs && Math.max(0, ageMs) < max * hourMs;

/** The line items that may serve in an episode of that age; undefined when none has bounds. An age before publication counts as 0. */
export function indexAges(bounds: readonly AgeBounds[]): ((ageMs: number) => Bits) | undefined {
  const named = bounds.flatMap(({ min = 0, max = Infinity }) => [min * hourMs, max * hourMs]);
  const times = Float64Array.from(new Set(named.filter((ms) => ms > 0 && ms < Infinity))).sort();
  if (times.length === 0) return undefined;
  const kept = new Map<number, Bits>();
  return (ageMs) => {
    const stretch = placeAfter(times, ageMs);
    const found = kept.get(stretch);
    if (found) return found;
    const bits = createBits(bounds.length);
    bounds.forEach((one, ordinal) => {
      if (isOfAge(one, ageMs)) addBit(bits, ordinal);
    });
    if (kept.size >= maxStretches) kept.clear();
    kept.set(stretch, bits);
    return bits;
  };
}

/** Hours of the local week that may serve, 0 = Monday 00:00; null for any. */
export interface Dayparts {
  readonly time_zone: string;
  readonly hours: readonly number[];
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/**
 * The hour of the local week, 0 = Monday 00:00, in an IANA zone; looked up once a minute. Throws `RangeError` for a zone that this
 * runtime does not know.
 */
function localHours(timeZone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'short', hour: '2-digit', hourCycle: 'h23' });
  let last = { minute: NaN, hour: 0 };
  return (atMs) => {
    const minute = Math.floor(atMs / 60_000);
    if (minute === last.minute) return last.hour;
    const parts = format.formatToParts(atMs);
    const part = (type: string) => parts.find((one) => one.type === type)!.value;
    last = { minute, hour: weekdays.indexOf(part('weekday')) * 24 + Number(part('hour')) };
    return last.hour;
  };
}

/** The line items whose dayparts allow a time; undefined when none has any. Built anew when a local hour ends. */
export function indexDayparts(dayparts: readonly (Dayparts | null)[]): ((atMs: number) => Bits) | undefined {
  const zones = [...new Set(dayparts.flatMap((one) => (one ? [one.time_zone] : [])))];
  if (zones.length === 0) return undefined;
  const hourIn = zones.map(localHours);
  const masks = dayparts.map((one) => (one ? { zone: zones.indexOf(one.time_zone), hours: new Set(one.hours) } : null));
  let last: { readonly hours: string; readonly bits: Bits } | undefined;
  return (atMs) => {
    const now = hourIn.map((hourAt) => hourAt(atMs));
    const hours = now.join();
    if (last?.hours === hours) return last.bits;
    const bits = createBits(dayparts.length);
    masks.forEach((mask, ordinal) => {
      if (!mask || mask.hours.has(now[mask.zone]!)) addBit(bits, ordinal);
    });
    last = { hours, bits };
    return bits;
  };
}
