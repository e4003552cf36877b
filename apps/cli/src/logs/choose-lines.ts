import { UsageError } from '../command.ts';
import { levels, type LogLine } from './log-line.ts';

/** Which lines are shown. */
export interface LineFilter {
  /** The least severity; lines that state none, such as those of engines, are then left out. */
  readonly level?: string | undefined;
  /** ISO 8601. */
  readonly since?: string | undefined;
  /** ID of a request, as `X-Request-Id` and `trace_id` of a problem name it. */
  readonly request?: string | undefined;
}

const spans: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The time of `--since`: a span before now (“10m”), or a time. Throws `UsageError`. */
export function sinceOf(text: string, now: Date): string {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const at = unit === undefined ? new Date(text) : new Date(now.getTime() - Number(count) * spans[unit]!);
  if (Number.isNaN(at.getTime()))
    throw new UsageError(
      `--since must be a span like 10m, 2h or 3d, or a time like 2026-11-25T22:00:00Z, not “${text}”.`,
    );
  return at.toISOString();
}

/** The level of `--level`. Throws `UsageError`. */
export function levelOf(text: string): string {
  if (!levels.some((level) => level === text))
    throw new UsageError(`--level must be ${levels.join(', ')}, not “${text}”.`);
  return text;
}

const rank = (level: string | undefined) => levels.findIndex((each) => each === level);

/**
 * Whether a line passes a filter.
 * @param traces traces of the request; a line of one of them is about it too, in whichever service
 */
export function passes(line: LogLine, { level, since, request }: LineFilter, traces: ReadonlySet<string>): boolean {
  if (since !== undefined && line.time < since) return false;
  if (level !== undefined && rank(line.level) < rank(level)) return false;
  return request === undefined || line.text.includes(request) || traces.has(traceOf(line) ?? '');
}

/** The trace that a line belongs to, where traces are on. */
export function traceOf({ fields }: LogLine): string | undefined {
  const trace = fields?.['trace_id'];
  return typeof trace === 'string' ? trace : undefined;
}
