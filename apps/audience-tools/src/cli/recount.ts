#!/usr/bin/env node
import os from 'node:os';
import { methodologyVersion, windows, type Window } from '@longwave/audience';
import { setStatementTimeout, transaction } from '@longwave/postgres';
import { createProgress } from '../files/progress.ts';
import { compareTallies } from '../recount/compare-tallies.ts';
import { countFacts } from '../recount/count-facts.ts';
import { exportFacts } from '../recount/export-facts.ts';
import { readFactFile, readFactFileHeader, type FactFileHeader } from '../recount/fact-file.ts';
import { combineHeaders, narrowScope } from '../recount/file-scope.ts';
import { renderComparison, renderTally, tallyJson } from '../recount/render-report.ts';
import type { FactScope } from '../recount/fact-range.ts';
import { hasAllFacts, readStoredTally } from '../recount/stored-tally.ts';
import {
  exitCodes,
  hourOf,
  needed,
  runProgram,
  textOf,
  UsageError,
  type Command,
  type Terminal,
  type Values,
} from './command-line.ts';
import type { Tally } from '../recount/tally.ts';
import { readLists, withDatabase } from './settings.ts';

export const overview = `usage: longwave-recount COMMAND

  export   write the stored facts, which are pseudonymous, to a file
  count    count the facts in files again, without a database
  compare  compare the numbers of files with those that the service shows

Every command has --help. Exit codes: 0 success, 1 the numbers differ or it failed, 2 the command line is wrong.
The counting method is described in docs/counting.md.`;

const progressOf = (work: string, { tell }: Terminal) =>
  createProgress({ work, unit: 'facts' }, tell, () => performance.now());

/** The windows of --window. */
function windowsOf(values: Values, otherwise: readonly Window[]): readonly Window[] {
  const name = textOf(values, 'window');
  if (name === undefined) return otherwise;
  const found = windows.filter((window) => name === 'all' || window === name);
  if (found.length === 0) throw new UsageError(`--window must be ${windows.join(', ')} or all, not ${name}.`);
  return found;
}

/** The headers of the files, and their common scope, narrowed by --from and --to. */
async function readScope(values: Values, files: readonly string[]) {
  const [first, ...rest] = await Promise.all(files.map(readFactFileHeader));
  if (first === undefined) throw new UsageError('Name one or more files that `export` has written.');
  const headers: [FactFileHeader, ...FactFileHeader[]] = [first, ...rest];
  return { headers, scope: narrowScope(combineHeaders(headers), hourOf(values, 'from'), hourOf(values, 'to')) };
}

async function count(values: Values, files: readonly string[], scope: FactScope, terminal: Terminal) {
  const lists = readLists(values, terminal);
  const progress = progressOf('count', terminal);
  const tally = await countFacts(
    files.map(readFactFile),
    lists.userAgents,
    { fromMs: scope.from?.getTime(), toMs: scope.to?.getTime() },
    { temporaryFolder: textOf(values, 'temp') ?? os.tmpdir(), onFacts: progress.add },
  );
  progress.end();
  warnOfWaiting(tally, terminal);
  return { tally, listsVersion: lists.listsVersion };
}

/** The scope of the numbers, and the method and lists that made them. */
function basisOf(scope: FactScope, headers: readonly FactFileHeader[], listsVersion: string) {
  return {
    from: scope.from?.toISOString() ?? null,
    to: scope.to?.toISOString() ?? null,
    workspace_id: scope.workspaceId ?? null,
    podcast_id: scope.podcastId ?? null,
    complete_until: headers.map((one) => one.complete_until ?? '').sort()[0] || null,
    methodology_version: methodologyVersion,
    lists_version: listsVersion,
  };
}

function renderBasis(basis: ReturnType<typeof basisOf>): string {
  return [
    `From ${basis.from ?? 'the beginning'} to ${basis.to ?? 'the end'}, by the start of each download`,
    `Counted with method ${basis.methodology_version} and lists ${basis.lists_version}`,
    basis.complete_until === null
      ? 'There were no facts when the file was written'
      : `Facts are complete until ${basis.complete_until}`,
    '',
    '',
  ].join('\n');
}

/** Warns when the files were exported under another method or other lists: then the count is a restatement. */
function warnOfOtherVersions(headers: readonly FactFileHeader[], listsVersion: string, { tell }: Terminal): void {
  const others = headers.filter(
    (one) => one.lists_version !== listsVersion || one.methodology_version !== methodologyVersion,
  );
  if (others.length > 0)
    tell(
      'The facts were exported under another method or other lists, so these numbers may differ from those of that time.\n',
    );
}

/** Warns of facts without a judgement: the numbers lack them. */
function warnOfWaiting({ facts }: Tally, { tell }: Terminal): void {
  const waiting = facts.get('waiting') ?? 0;
  if (waiting > 0)
    tell(
      `${waiting} facts name a user agent whose text is missing or no longer stored. They are listed as “waiting” and not counted.\n`,
    );
}

const rangeOptions = { from: { type: 'string' }, to: { type: 'string' } } as const;
const countOptions = {
  ...rangeOptions,
  window: { type: 'string' },
  lists: { type: 'string' },
  temp: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const exportCommand: Command = {
  name: 'export',
  help: `usage: longwave-recount export --out FILE[.gz] [options]

Writes the facts from which the downloads of a range are counted to a file, one JSON object per line. If the name ends in .gz, the
file is compressed. Facts contain listener keys and no addresses. The file appears when it is complete; a failed export starts again
from the beginning.

  --out FILE         the file to write
  --from HOUR        first hour, a UTC date or 2026-11-01T13:00:00Z (default: the oldest facts that are stored)
  --to HOUR          the hour after the last one (default: the newest facts)
  --workspace WS     only this workspace (default: all)
  --podcast POD      only this podcast
  --lists FOLDER     user-agent and network lists (default: AUDIENCE_DATA, or the lists of this program)

Reads the database at DATABASE_URL. The file also contains facts from before and after the range that its downloads depend on.`,
  options: {
    ...rangeOptions,
    out: { type: 'string' },
    workspace: { type: 'string' },
    podcast: { type: 'string' },
    lists: { type: 'string' },
  },
  run: async (values, files, terminal) => {
    if (files.length > 0) throw new UsageError(`Name the file with --out. “${files[0]}” is not an option.`);
    const out = needed(values, 'out');
    const [from, to] = [hourOf(values, 'from'), hourOf(values, 'to')];
    if (from && to && from >= to) throw new UsageError('--from must be before --to.');
    const scope = { from, to, workspaceId: textOf(values, 'workspace'), podcastId: textOf(values, 'podcast') };
    const { listsVersion } = readLists(values, terminal);
    const progress = progressOf('export', terminal);
    const { facts, user_agents } = await withDatabase(terminal, 'longwave-recount', (pool) =>
      exportFacts(pool, scope, out, { listsVersion, now: terminal.now(), onFacts: progress.add }),
    );
    progress.end();
    terminal.print(`${out}: ${facts} facts, ${user_agents} user agents\n`);
    return exitCodes.done;
  },
};

const countCommand: Command = {
  name: 'count',
  help: `usage: longwave-recount count FILE… [options]

Counts downloads, listeners, ads and facts by judgement from files that \`export\` has written, without a database. Files may
overlap: each fact counts once. A download belongs to the hour in which it began.

  --from HOUR, --to HOUR   only this part of the files' range
  --window WINDOW          calendar_utc (the default), first_touch_24h, last_touch_24h or all
  --json                   print one JSON object instead of tables
  --lists FOLDER           count with other lists than those of this program
  --temp FOLDER            folder for temporary files, which are about as large as the facts (default: the system's)`,
  options: countOptions,
  run: async (values, files, terminal) => {
    const shown = windowsOf(values, ['calendar_utc']);
    const { headers, scope } = await readScope(values, files);
    const { tally, listsVersion } = await count(values, files, scope, terminal);
    warnOfOtherVersions(headers, listsVersion, terminal);
    const basis = basisOf(scope, headers, listsVersion);
    if (values['json']) terminal.print(`${JSON.stringify({ ...basis, ...tallyJson(tally, shown) }, null, 2)}\n`);
    else terminal.print(`${renderBasis(basis)}${renderTally(tally, shown)}`);
    return exitCodes.done;
  },
};

const compareCommand: Command = {
  name: 'compare',
  help: `usage: longwave-recount compare FILE… [options]

Counts files and compares every number with the one that the service shows. Facts by judgement show where a difference comes from.
The exit code is 1 if numbers differ. Facts that came after the export make a difference too, so choose a range that is complete.

  --tolerance PERCENT      how far numbers may be apart and still agree (default: 0; between different counters 5 is usual)
  --from HOUR, --to HOUR   only this part of the files' range
  --window WINDOW          all (the default), calendar_utc, first_touch_24h or last_touch_24h
  --json, --lists FOLDER, --temp FOLDER   as for count

Reads the database at DATABASE_URL.`,
  options: { ...countOptions, tolerance: { type: 'string' } },
  run: async (values, files, terminal) => {
    const percent = Number(textOf(values, 'tolerance') ?? '0');
    if (!(percent >= 0 && percent <= 100)) throw new UsageError('--tolerance must be a percentage from 0 to 100.');
    const shown = windowsOf(values, windows);
    const { headers, scope } = await readScope(values, files);
    const stored = await withDatabase(terminal, 'longwave-recount', (pool) =>
      transaction(
        pool,
        async (tx) => {
          await setStatementTimeout(tx, 0);
          return { numbers: await readStoredTally(tx, scope), hasFacts: await hasAllFacts(tx, scope) };
        },
        'REPEATABLE READ',
      ),
    );
    const { tally, listsVersion } = await count(values, files, scope, terminal);
    warnOfOtherVersions(headers, listsVersion, terminal);
    const basis = basisOf(scope, headers, listsVersion);
    if (!stored.hasFacts) {
      tally.facts.clear();
      terminal.tell('Some facts of this range are no longer stored, so facts by judgement are not compared.\n');
    }
    const figures = compareTallies(stored.numbers, tally, shown, percent / 100);
    const differing = figures.filter((one) => one.differs).length;
    if (values['json']) terminal.print(`${JSON.stringify({ ...basis, differing, figures }, null, 2)}\n`);
    else
      terminal.print(
        `${renderBasis(basis)}${renderComparison(figures)}\n${
          differing === 0
            ? `All ${figures.length} numbers agree.`
            : `${differing} of ${figures.length} numbers differ by more than ${percent} %.`
        }\n`,
      );
    return differing === 0 ? exitCodes.done : exitCodes.differs;
  },
};

export const recountCommands: readonly [Command, ...Command[]] = [exportCommand, countCommand, compareCommand];

if (import.meta.main) await runProgram(recountCommands, overview);
