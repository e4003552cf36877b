/** A time inside a recording, to a tenth of a second: `16:42.3`, `1:03:20.5`. */
export function positionText(ms: number): string {
  const tenths = Math.round(ms / 100);
  const [hours, minutes, seconds] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60, (tenths % 600) / 10];
  const two = (text: string | number, width = 2) => String(text).padStart(width, '0');
  const end = seconds.toFixed(1);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(end, 4)}` : `${minutes}:${two(end, 4)}`;
}

const form = /^(?:(\d{1,3}):)?(?:(\d{1,3}):)?(\d{1,5})(?:[.,](\d{1,3}))?$/;

/** The milliseconds of a time that somebody typed, as `16:42`, `1:03:20,5` or `90`; undefined for anything else. */
export function parsePosition(text: string): number | undefined {
  const found = form.exec(text.trim());
  if (!found) return undefined;
  const [, first, second, last = '0', part = '0'] = found;
  const [hours, minutes] = second === undefined ? ['0', first ?? '0'] : [first ?? '0', second];
  if (first !== undefined && Number(last) > 59) return undefined;
  if (second !== undefined && Number(minutes) > 59) return undefined;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(last)) * 1000 + Number(part.padEnd(3, '0'));
}
