const hourMs = 3_600_000;
const minuteMs = 60_000;
const dayMs = 86_400_000;
const blockBits = 10;
const blockHours = 2 ** blockBits;

/** Weeks and days of an IANA zone. */
export interface LocalTime {
  /** Hour of the local week, 0 = Monday 00:00, in which an hour of UTC begins. */
  readonly weekHourOf: (hour: number) => number;
  /** First instant of the local day that an instant lies in. */
  readonly dayStartOf: (atMs: number) => number;
}

/** Asks the zone once per hour and keeps the answers. Throws `RangeError` for a zone that this runtime does not know. */
export function createLocalTime(timeZone: string): LocalTime {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
    ...({ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const),
  });
  const lookUp = (atMs: number) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const day = Date.UTC(parts.get('year')!, parts.get('month')! - 1, parts.get('day')) / dayMs;
    // 1970-01-01 was a Thursday.
    return { day, weekHour: ((day + 3) % 7) * 24 + parts.get('hour')! };
  };
  const hours = new Map<number, ReturnType<typeof lookUp>>();
  const ofHour = (hour: number) => {
    const found = hours.get(hour) ?? lookUp(hour * hourMs);
    hours.set(hour, found);
    return found;
  };
  // Curves ask for the same hours again and again.
  const blocks = new Map<number, Int16Array>();
  let last: { readonly number: number; readonly block: Int16Array } = { number: NaN, block: new Int16Array(0) };
  const weekHourOf = (hour: number) => {
    const number = hour >> blockBits;
    if (number !== last.number) {
      const block = blocks.get(number) ?? new Int16Array(blockHours).fill(-1);
      blocks.set(number, block);
      last = { number, block };
    }
    const at = hour - number * blockHours;
    const known = last.block[at]!;
    return known >= 0 ? known : (last.block[at] = ofHour(hour).weekHour);
  };
  const starts = new Map<number, number>();
  const startOf = (day: number, insideMs: number) => {
    let [before, from] = [Math.floor(insideMs / minuteMs) - 26 * 60, Math.floor(insideMs / minuteMs)];
    while (from - before > 1) {
      const middle = Math.floor((before + from) / 2);
      if (lookUp(middle * minuteMs).day >= day) from = middle;
      else before = middle;
    }
    starts.set(day, from * minuteMs);
    return from * minuteMs;
  };
  return {
    weekHourOf,
    dayStartOf: (atMs) => {
      const hour = Math.floor(atMs / hourMs);
      const { day } = ofHour(hour);
      // A zone that is not whole hours off UTC changes the day inside an hour.
      const at = ofHour(hour + 1).day === day ? day : lookUp(atMs).day;
      return starts.get(at) ?? startOf(at, atMs);
    },
  };
}
