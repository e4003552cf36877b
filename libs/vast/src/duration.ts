/** `HH:MM:SS.mmm`, the form of durations and playheads in VAST. */
export function formatDuration(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return `${clock}.${String(durationMs % 1000).padStart(3, '0')}`;
}
