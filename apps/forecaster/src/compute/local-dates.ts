const dayMs = 86_400_000;

/** Local dates of days by their start. */
export function datesOf(timeZone: string): (startMs: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  // The middle of a day is in it, also where a day has 23 hours.
  return (startMs) => format.format(startMs + dayMs / 2);
}
