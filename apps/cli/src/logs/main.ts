/** `longwave logs`: the log lines of one service, or of all in the order of their times. */
import { assertNoWords, runOperations } from '../checks/run-operations.ts';
import { typed, UsageError } from '../command.ts';
import { escapeControls } from '../escape-controls.ts';
import { dataFolderOfTool } from '../find-fleet.ts';
import { nearest } from '@longwave/service-kit/nearest';
import { positiveNumber } from '../positive-number.ts';
import { levelOf, passes, sinceOf, traceOf, type LineFilter } from './choose-lines.ts';
import { jsonOf, renderLogLine, type LogLine } from './log-line.ts';
import { findLogs, followLogs, readLogs, type LogFile } from './read-logs.ts';

const usage = `${typed} logs [SERVICE] [--request ID] [--since TIME] [--level LEVEL] [--lines N] [--follow] [--json] [--data FOLDER]

Shows log lines of a service or an engine, or of all in the order of their times: for people on a terminal, as JSON lines elsewhere.

  SERVICE         optional: a service (management, …), one of several processes of it (management-2) or an engine (postgres, redis,
                  s3-server, kafka); default: all
  --request ID    optional: only lines about this request, whose ID is in X-Request-Id and in trace_id of a problem. Where traces are on,
                  lines of its trace are about it too
  --since TIME    optional: only lines since a time (2026-11-25T22:00:00Z) or for a span (30s, 10m, 2h, 3d)
  --level LEVEL   optional: only lines of this level or worse: debug, info, warn, error, fatal
  --lines N       optional: only the last N lines (default: 200; with --since or --request all)
  --follow        optional: go on with new lines until Ctrl-C
  --json          optional: JSON lines on a terminal too
  --data FOLDER   optional: data folder of the service, which need not run (default: .longwave)

Exit code: 0, or 2 when the command line is wrong.

Examples:
  ${typed} logs management --level warn --since 1h
  ${typed} logs --request req_01jcq7v8z4n2m6k9s3x5t1r0wd`;

const defaultLines = 200;

/** Whether a log is that of a process of this name, or of a further process of this service. */
const isLogOf = (name: string, source: string) =>
  source === name || (source.startsWith(`${name}-`) && /^\d+$/.test(source.slice(name.length + 1)));

/** The files of a service, or all of them. Throws `UsageError` for a name that has none. */
function chooseFiles(folder: string, files: readonly LogFile[], source: string | undefined): readonly LogFile[] {
  if (files.length === 0) throw new UsageError(`There are no logs in ${folder}. Name the data folder with --data.`);
  if (source === undefined) return files;
  const found = files.filter((file) => isLogOf(source, file.source));
  if (found.length > 0) return found;
  const names = files.map((file) => file.source);
  const near = nearest(source, names);
  throw new UsageError(
    near === undefined
      ? `There is no log of “${source}”. There are: ${names.join(', ')}.`
      : `There is no log of “${source}”. Did you mean ${near}?`,
  );
}

/** The traces to which the lines of a request belong. */
async function tracesOf(files: readonly LogFile[], request: string | undefined): Promise<Set<string>> {
  const traces = new Set<string>();
  if (request === undefined) return traces;
  for await (const line of readLogs(files)) {
    const trace = line.text.includes(request) ? traceOf(line) : undefined;
    if (trace !== undefined) traces.add(trace);
  }
  return traces;
}

/** The last lines that pass, or all of them. */
async function* chosenLines(
  files: readonly LogFile[],
  filter: LineFilter,
  traces: ReadonlySet<string>,
  last: number | undefined,
): AsyncGenerator<LogLine> {
  const kept: LogLine[] = [];
  for await (const line of readLogs(files)) {
    if (!passes(line, filter, traces)) continue;
    if (last === undefined) yield line;
    else if (kept.push(line) > last * 2) kept.splice(0, last);
  }
  if (last !== undefined) yield* kept.slice(-last);
}

await runOperations(
  {
    usage,
    options: {
      request: { type: 'string' },
      since: { type: 'string' },
      level: { type: 'string' },
      lines: { type: 'string' },
      follow: { type: 'boolean' },
      json: { type: 'boolean' },
    },
  },
  async ({ request, since, level, lines, follow, json }, [source, ...words]) => {
    assertNoWords(words);
    const filter: LineFilter = {
      request,
      since: since === undefined ? undefined : sinceOf(since, new Date()),
      level: level === undefined ? undefined : levelOf(level),
    };
    const last =
      positiveNumber('lines', lines) ?? (since === undefined && request === undefined ? defaultLines : undefined);
    const folder = `${dataFolderOfTool()}/logs`;
    const all = findLogs(folder);
    const files = chooseFiles(folder, all, source);
    const forTerminal = json ? (line: LogLine) => escapeControls(jsonOf(line)) : renderLogLine;
    const print = process.stdout.isTTY ? forTerminal : jsonOf;
    // The reader of a pipe may end before us: `| head`.
    process.stdout.on('error', () => process.exit(0));
    const traces = await tracesOf(all, request);
    for await (const line of chosenLines(files, filter, traces, last)) console.log(print(line));
    if (!follow) return 0;
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
    const wants = (each: string) => source === undefined || isLogOf(source, each);
    for await (const line of followLogs(folder, all, wants, stop.signal)) {
      const trace = request !== undefined && line.text.includes(request) ? traceOf(line) : undefined;
      if (trace !== undefined) traces.add(trace);
      if (passes(line, filter, traces)) console.log(print(line));
    }
    return 0;
  },
);
