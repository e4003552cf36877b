import { z } from 'zod';
import { escapeControls } from '../escape-controls.ts';

/** One line of a log file. */
export interface LogLine {
  /** Name of its file without `.log`: a service or an engine. */
  readonly source: string;
  /** ISO 8601; of a line that states none, that of the line before it in its file. '' before the first. */
  readonly time: string;
  /** Undefined where the line states none. */
  readonly level: string | undefined;
  /** As it stands in the file, without its end. */
  readonly text: string;
  /** The members of a line of JSON; undefined for any other. */
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** Severities from the least; a line of a service has one of them. */
export const levels = ['debug', 'info', 'warn', 'error', 'fatal'] as const;

const lineSchema = z.looseObject({ time: z.iso.datetime(), level: z.enum(levels), event: z.string() });

/** Times at the beginning of lines of PostgreSQL (`2026-11-25 22:00:00.123 UTC`) and Redis (`17:M 25 Nov 2026 22:00:00.123`). */
const engineTimes = [
  /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\.\d{3}) (UTC|GMT)/,
  /^\d+:\w (\d+ \w{3} \d{4}) (\d\d:\d\d:\d\d\.\d{3})/,
];

function engineTime(text: string): string | undefined {
  for (const pattern of engineTimes) {
    const [, day, time, zone = ''] = pattern.exec(text) ?? [];
    const at = new Date(`${day} ${time} ${zone}`);
    if (day !== undefined && !Number.isNaN(at.getTime())) return at.toISOString();
  }
  return undefined;
}

function tryJson(text: string): unknown {
  try {
    return text.startsWith('{') ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** @param before time of the line before it in its file */
export function parseLogLine(source: string, text: string, before: string): LogLine {
  const { data: fields } = lineSchema.safeParse(tryJson(text));
  if (!fields) return { source, time: engineTime(text) ?? before, level: undefined, text, fields: undefined };
  return { source, time: fields.time, level: fields.level, text, fields };
}

/** A line as JSON: a service's as it wrote it; any other line as the event of one. */
export const jsonOf = ({ source, time, text, fields }: LogLine): string =>
  fields ? text : JSON.stringify({ ...(time !== '' && { time }), service: source, event: text });

const shownElsewhere = new Set(['time', 'level', 'service', 'event']);

const render = (value: unknown) =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);

/**
 * A line for people: time, level, service, event, then the other fields as `name=value`; the stack of an error below it. Nothing in it steers a
 * terminal: clients and files choose parts of fields.
 */
export function renderLogLine({ source, time, level = '', text, fields }: LogLine): string {
  const begin = `${time.slice(11, 23).padEnd(12)} ${level.padEnd(5)} ${source.padEnd(16)}`;
  if (!fields) return escapeControls(`${begin} ${text}`);
  const { err, ...others } = fields;
  const stack = z.object({ stack: z.string() }).safeParse(err).data?.stack;
  const pairs = Object.entries(others)
    .filter(([name]) => !shownElsewhere.has(name))
    .map(([name, value]) => `${name}=${render(value)}`);
  const failure = err === undefined || stack !== undefined ? [] : [`err=${render(err)}`];
  const line = [begin, String(fields['event']), ...pairs, ...failure].join(' ');
  return [line, ...(stack?.split('\n').map((each) => `    ${each}`) ?? [])].map(escapeControls).join('\n');
}
