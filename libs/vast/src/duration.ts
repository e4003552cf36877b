/** `HH:MM:SS.mmm`, the form of durations and playheads in VAST. */
export function formatDuration(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return `${clock}.${String(durationMs % 1000).padStart(3, '0')}`;
}

/** Milliseconds of `HH:MM:SS` or `HH:MM:SS.mmm`; undefined for anything else. */
export function tryParseDuration(text: string): number | undefined {
  const match = /^(\d\d):([0-5]\d):([0-5]\d)(?:\.(\d{1,3}))?$/.exec(text);
  if (!match) return undefined;
  const [, hours, minutes, seconds, fraction = ''] = match;
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000 + Number(fraction.padEnd(3, '0'));
}
