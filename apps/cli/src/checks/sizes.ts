const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

/** A number of bytes for people: “42 MB”. */
export function describeBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)));
  const scaled = bytes / 1024 ** power;
  return `${scaled >= 10 || power === 0 ? Math.round(scaled) : scaled.toFixed(1)} ${units[power]}`;
}

const periods = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
] as const;

/** A time span for people: “3 days”, “12 s”. */
export function describeSeconds(seconds: number): string {
  const period = periods.find(([length]) => seconds >= length);
  if (!period) return `${Math.round(seconds)} s`;
  const count = Math.floor(seconds / period[0]);
  return `${count} ${period[1]}${count === 1 ? '' : 's'}`;
}
