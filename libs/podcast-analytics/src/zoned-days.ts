const secondMs = 1000;
const dayMs = 86_400_000;

/** Calendar days of a time zone, numbered from 1970-01-01 on. */
export interface Days {
  /** The day that an instant lies in. */
  readonly dayAt: (atMs: number) => number;
  /** Its first instant; where the zone left a day out, that of the next. */
  readonly startMs: (day: number) => number;
}

export const utcDays: Days = { dayAt: (atMs) => Math.floor(atMs / dayMs), startMs: (day) => day * dayMs };

/** Whether it names a zone of the IANA database. Offsets such as +02:00 do not. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Days of an IANA zone, with its changes of the clock. Throws `RangeError` for an unknown name. */
export function daysOf(timeZone: string): Days {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  const dayAt = (atMs: number): number => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(parts.get('year')!, parts.get('month')! - 1, parts.get('day')) / dayMs;
  };
  // Whoever walks over days asks for the same ones again and again, and each takes many formats.
  const starts = new Map<number, number>();
  return {
    dayAt,
    startMs: (day) => {
      const known = starts.get(day);
      if (known !== undefined) return known;
      // No zone is a whole day away from UTC, and clocks change at full seconds.
      let [before, from] = [((day - 2) * dayMs) / secondMs, ((day + 2) * dayMs) / secondMs];
      while (from - before > 1) {
        const middle = Math.floor((before + from) / 2);
        if (dayAt(middle * secondMs) >= day) from = middle;
        else before = middle;
      }
      starts.set(day, from * secondMs);
      return from * secondMs;
    },
  };
}

const hourMs = 3_600_000;
/** Zones keep an offset for longer. */
const stepMs = 14 * dayMs;

/**
 * Whether an IANA zone is whole hours off UTC in a half-open range: then its days consist of whole hours of UTC, by which ads are counted.
 * Throws `RangeError` for an unknown name.
 */
export function isWholeHourZone(timeZone: string, { from, to }: { readonly from: Date; readonly to: Date }): boolean {
  const format = new Intl.DateTimeFormat('en', { timeZone, minute: 'numeric', second: 'numeric' });
  const isWhole = (atMs: number) =>
    format
      .formatToParts(Math.floor(atMs / hourMs) * hourMs)
      .every(({ type, value }) => (type !== 'minute' && type !== 'second') || Number(value) === 0);
  for (let at = from.getTime(); at < to.getTime(); at += stepMs) if (!isWhole(at)) return false;
  return isWhole(to.getTime() - 1);
}
