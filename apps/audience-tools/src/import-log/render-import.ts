import { renderTable } from '../files/render-table.ts';
import type { FileOutcome } from './gather-requests.ts';
import { prefixRows, type PrefixCount, type PrefixTally } from './prefix-tally.ts';

/** A file and the outcome of its records; a file that was stored before is not read again. */
export interface FileReport {
  readonly file: string;
  readonly outcome: FileOutcome | 'imported_before';
}

/** The sums of rows with equal columns. */
function addUp(tally: PrefixTally, columns: (row: ReturnType<typeof prefixRows>[number]) => readonly string[]) {
  const sums = new Map<string, PrefixCount>();
  for (const row of prefixRows(tally)) {
    const key = JSON.stringify(columns(row));
    const sum = sums.get(key) ?? { prefix_requests: 0, first_two: 0 };
    sums.set(key, {
      prefix_requests: sum.prefix_requests + row.prefix_requests,
      first_two: sum.first_two + row.first_two,
    });
  }
  return [...sums].map(([key, sum]) => [...(JSON.parse(key) as string[]), sum.prefix_requests, sum.first_two]);
}

/** "log.csv, line 17: time: missing", a line for each problem; never a part of the record. */
export function renderProblems(files: readonly FileReport[]): string {
  return files
    .flatMap(({ file, outcome }) => {
      if (outcome === 'imported_before' || outcome.malformed === 0) return [];
      const shown = outcome.problems.map(({ line, problem }) => `${file}, line ${line}: ${problem}\n`);
      const rest = outcome.malformed - outcome.problems.length;
      return rest > 0 ? [...shown, `${file}: ${rest} more malformed records\n`] : shown;
    })
    .join('');
}

const sorted = <K extends string>(judged: ReadonlyMap<K, number>) => [...judged].sort(([a], [b]) => (a < b ? -1 : 1));

/** The columns, records and numbers as tables for people. */
export function renderImport(files: readonly FileReport[], tally: PrefixTally): string {
  const records = files.flatMap(({ file, outcome }): (string | number)[][] => {
    if (outcome === 'imported_before') return [[file, 'stored before, so not read again', 0]];
    const judged = sorted(outcome.judged).map(([judgement, count]) => [file, judgement, count]);
    return outcome.malformed > 0 ? [...judged, [file, 'malformed', outcome.malformed]] : judged;
  });
  const columns = files.flatMap(({ file, outcome }) => {
    if (outcome === 'imported_before') return [];
    const { understood, not_understood, absent } = outcome.columns;
    return [
      ...understood.map(({ field, column }) => [file, column, field]),
      ...not_understood.map((column) => [file, column, 'not understood']),
      ...absent.map(({ field, effect }) => [file, '(none)', `${field}: ${effect}`]),
    ];
  });
  const counts = ['prefix_requests', 'first_two'];
  return [
    'These numbers are prefix_requests (window calendar_utc): requests, not downloads.\n',
    ...(files.length > 0
      ? [
          renderTable('Columns', ['file', 'column', 'read as'], columns),
          renderTable('Records', ['file', 'judgement', 'records'], records),
        ]
      : []),
    renderTable(
      'Podcasts',
      ['podcast', ...counts],
      addUp(tally, (row) => [row.podcast_id]),
    ),
    renderTable(
      'Episodes',
      ['podcast', 'episode', ...counts],
      addUp(tally, (row) => [row.podcast_id, row.episode_id]),
    ),
    renderTable(
      'Days (UTC)',
      ['podcast', 'episode', 'day', ...counts],
      addUp(tally, (row) => [row.podcast_id, row.episode_id, row.day]),
    ),
  ].join('\n');
}

/** The numbers as JSON. */
export function tallyJson(tally: PrefixTally) {
  return { window: 'calendar_utc', prefix_requests: prefixRows(tally) };
}

/** The records and numbers as JSON. */
export function importJson(files: readonly FileReport[], tally: PrefixTally) {
  return {
    files: files.map(({ file, outcome }) =>
      outcome === 'imported_before'
        ? { file, imported_before: true }
        : {
            file,
            imported_before: false,
            records: outcome.records,
            judged: Object.fromEntries(sorted(outcome.judged)),
            malformed: outcome.malformed,
            problems: outcome.problems,
            columns: outcome.columns,
          },
    ),
    ...tallyJson(tally),
  };
}
