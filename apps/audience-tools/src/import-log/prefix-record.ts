import { isIP } from 'node:net';
import { z } from 'zod';

/** The fields of a foreign log that prefix mode reads. */
export const logFields = [
  'time',
  'url',
  'episode_id',
  'method',
  'status',
  'range',
  'range_start',
  'range_end',
  'body_bytes',
  'ip',
  'ip_hash',
  'user_agent',
  'referer',
  'purpose',
] as const;
export type LogField = (typeof logFields)[number];

/** Seconds, milliseconds or microseconds since the epoch, by their size. */
function epochMs(value: number): number {
  if (value < 1e11) return value * 1000;
  return value < 1e14 ? value : value / 1000;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Parses RFC 3339, also with a space or without a zone (then UTC), the common log format, or a number since the epoch. */
function parseTimeMs(value: string | number): number {
  if (typeof value === 'number') return epochMs(value);
  if (/^\d{9,17}(\.\d+)?$/.test(value)) return epochMs(Number(value));
  const common = /^\[?(\d{2})\/(\w{3})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2})\]?$/.exec(value);
  if (common) {
    const [, day, month, year, clock, hours, minutes] = common;
    const number = String(months.indexOf(month!) + 1).padStart(2, '0');
    return Date.parse(`${year}-${number}-${day}T${clock}${hours}:${minutes}`);
  }
  const parts = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(Z|UTC|[+-]\d{2}:?\d{2})?$/i.exec(value);
  if (!parts) return NaN;
  const [, date, clock, zone = 'Z'] = parts;
  return Date.parse(`${date}T${clock}${zone.toUpperCase() === 'UTC' ? 'Z' : zone}`);
}

const earliestMs = Date.UTC(2000, 0);
const latestMs = Date.UTC(2100, 0);

const time = z.union([z.string().max(64), z.number()], { error: 'not a valid time' }).transform((value, context) => {
  const ms = Math.floor(parseTimeMs(value));
  if (ms >= earliestMs && ms < latestMs) return ms;
  context.issues.push({ code: 'custom', message: 'not a valid time', input: undefined });
  return z.NEVER;
});

/** A count of bytes, as a number or in digits. */
const bytes = z
  .union([z.string().regex(/^\d{1,15}$/, 'not a whole number'), z.number()], { error: 'not a whole number' })
  .transform(Number)
  .pipe(z.int('not a whole number').min(0, 'not a whole number'))
  .optional();

const text = (max: number) => z.string({ error: 'not a text' }).max(max, 'too long');

/**
 * A record of a foreign log by field; absent fields are undefined. Messages never quote the record.
 */
const prefixRecordSchema = z
  .strictObject({
    time,
    url: text(8_192).min(1, 'missing').optional(),
    /** The log's own name of the episode: an id, or its enclosure's URL. */
    episode_id: text(8_192).min(1, 'missing').optional(),
    /** A log without methods has downloads alone. */
    method: text(16).default('GET'),
    status: z
      .union([z.string(), z.number()], { error: 'not a valid status' })
      .transform(Number)
      .pipe(
        z
          .int('not a valid status')
          .refine((status) => status === 0 || (status >= 100 && status <= 599), 'not a valid status'),
      )
      .optional(),
    range: text(1_024).optional(),
    /** First and last byte, when a log has columns for them. */
    range_start: bytes,
    range_end: bytes,
    /** Bytes of the answer without its headers. */
    body_bytes: bytes,
    ip: text(64)
      .refine((address) => isIP(address) !== 0, 'not a valid address')
      .optional(),
    ip_hash: text(256).optional(),
    user_agent: text(4_096).default(''),
    referer: text(8_192).optional(),
    purpose: text(256).optional(),
  })
  .refine((record) => record.ip !== undefined || record.ip_hash !== undefined, {
    path: ['ip'],
    message: 'missing',
  })
  .refine((record) => record.url !== undefined || record.episode_id !== undefined, {
    path: ['url'],
    message: 'missing',
  })
  .refine((record) => record.range_end === undefined || record.range_start !== undefined, {
    path: ['range_start'],
    message: 'missing',
  });

export type PrefixRecord = z.infer<typeof prefixRecordSchema>;

/** Parses a record; answers a text when it is malformed: "time: missing". */
export function tryParseRecord(fields: Partial<Record<LogField, unknown>>): PrefixRecord | string {
  const parsed = prefixRecordSchema.safeParse(fields);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue!.path[0] as LogField;
  return `${field}: ${fields[field] === undefined ? 'missing' : issue!.message}`;
}

/**
 * The Range header of a request (RFC 9110 §14.2), or its substitute: the range's ends in two columns, or, when a log has neither, the size
 * of a 206 answer of one or two bytes.
 */
export function requestedRange({
  range,
  range_start,
  range_end,
  status,
  body_bytes,
}: PrefixRecord): string | undefined {
  if (range !== undefined) return range;
  if (range_start !== undefined) return `bytes=${range_start}-${range_end ?? ''}`;
  if (status === 206 && (body_bytes === 1 || body_bytes === 2)) return `bytes=0-${body_bytes - 1}`;
  return undefined;
}
