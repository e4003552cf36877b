import type { LogField } from './prefix-record.ts';

/**
 * A line of the combined log format (Apache, nginx): address, identity, user, time, request, status, bytes, referrer, user agent. A
 * virtual host may precede them, further fields may follow. Quoted texts escape quotes.
 */
const line =
  /^(?:\S+ )?(?<ip>\S+) \S+ \S+ \[(?<time>[^\]]+)\] "(?<request>(?:[^"\\]|\\.)*)" (?<status>\d{3}) (?<bytes>\d+|-) "(?<referer>(?:[^"\\]|\\.)*)" "(?<agent>(?:[^"\\]|\\.)*)"(?<more>.*)$/;

/** The fields of a combined line by their names in reports. */
export const combinedColumns: readonly (readonly [field: LogField, column: string])[] = [
  ['ip', 'address'],
  ['time', 'time'],
  ['method', 'request'],
  ['url', 'request'],
  ['status', 'status'],
  ['body_bytes', 'bytes'],
  ['referer', 'referrer'],
  ['user_agent', 'user agent'],
];

export interface CombinedLine {
  /** A field that is `-` or empty is absent. */
  readonly fields: Partial<Record<LogField, string>>;
  /** Further fields follow the user agent. */
  readonly hasMore: boolean;
}

/** Apache writes \" and \\ (mod_log_config), both servers bytes as \xHH. */
const unescape = (text: string) =>
  text.replace(/\\(?:x([0-9A-Fa-f]{2})|(.))/g, (_, hex: string | undefined, sign: string) =>
    hex === undefined ? sign : String.fromCharCode(Number.parseInt(hex, 16)),
  );

/** Splits a line into its fields; undefined for a line of another format. */
export function tryParseCombinedLine(text: string): CombinedLine | undefined {
  const found = line.exec(text)?.groups;
  if (found === undefined) return undefined;
  const [method, url] = unescape(found['request']!).split(' ');
  const fields: Readonly<Record<string, string | undefined>> = {
    ...{ ip: found['ip'], time: found['time'], method, url, status: found['status'], body_bytes: found['bytes'] },
    ...{ referer: unescape(found['referer']!), user_agent: unescape(found['agent']!) },
  };
  return {
    fields: Object.fromEntries(Object.entries(fields).filter(([, value]) => value && value !== '-')),
    hasMore: found['more']!.trim() !== '',
  };
}
