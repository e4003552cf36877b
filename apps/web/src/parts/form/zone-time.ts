/** What a day and a time of a zone name: one instant; none, because clocks jump over it; two, because clocks show it twice. Instants are ISO 8601 in UTC. */
export type ZonedInstant =
  | { readonly kind: 'none' }
  | { readonly kind: 'gap' }
  | { readonly kind: 'one'; readonly at: string }
  | { readonly kind: 'fold'; readonly first: string; readonly second: string };

const dayMs = 86_400_000;

/** How far the clocks of a zone are ahead of UTC at an instant, in milliseconds. */
function offsetMs(at: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
    timeZone: zone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  }).formatToParts(at);
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const shown = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return shown - Math.floor(at / 1000) * 1000;
}

/** A real day and time, as if clocks showed UTC; undefined for `2026-02-30` or half a text. */
function asUtc(day: string, time: string): number | undefined {
  const at = Date.parse(`${day}T${time}Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || !/^\d\d:\d\d$/.test(time) || Number.isNaN(at)) return undefined;
  return new Date(at).toISOString().startsWith(`${day}T${time}`) ? at : undefined;
}

/**
 * The instant at which clocks of a zone show a day and a time, as date and time fields hold them.
 * @param day `2026-03-29`
 * @param time `02:30`
 */
export function instantIn(day: string, time: string, zone: string): ZonedInstant {
  const local = asUtc(day, time);
  if (local === undefined) return { kind: 'none' };
  // Whatever the clocks do that day, their offset is one of those around it.
  const offsets = [...new Set([local - dayMs, local + dayMs].map((near) => offsetMs(near, zone)))];
  const found = offsets
    .map((offset) => local - offset)
    .filter((at) => at + offsetMs(at, zone) === local)
    .toSorted((a, b) => a - b)
    .map((at) => new Date(at).toISOString());
  const [first, second] = found;
  if (first === undefined) return { kind: 'gap' };
  return second === undefined ? { kind: 'one', at: first } : { kind: 'fold', first, second };
}

/** The day and the time that clocks of a zone show at an instant, as date and time fields take them. */
export function fieldsOf(instant: string, zone: string): { readonly day: string; readonly time: string } {
  const at = Date.parse(instant);
  const text = new Date(at + offsetMs(at, zone)).toISOString();
  return { day: text.slice(0, 10), time: text.slice(11, 16) };
}

/** How far clocks are ahead of UTC at an instant, in words: `UTC+2`, `UTC−3:30`. It tells the two times of a fold apart. */
export function offsetText(instant: string, zone: string): string {
  const minutes = Math.round(offsetMs(Date.parse(instant), zone) / 60_000);
  const rest = Math.abs(minutes) % 60;
  const hours = `${Math.floor(Math.abs(minutes) / 60)}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
  return `UTC${minutes < 0 ? '−' : '+'}${hours}`;
}
