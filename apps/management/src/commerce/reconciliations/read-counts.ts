import { createRowReader, findDelimiter, isFormula, type CsvRow } from '@longwave/csv';
import { createTurns } from '@longwave/worker-kit';
import type { CountedRow, Finding, SourceRows } from './counted-row.ts';
import type { ReconciliationSource } from './reconciliation.ts';

type Columns = Extract<ReconciliationSource, { readonly storage_key: string }>['columns'];

export const maxFileBytes = 20 * 2 ** 20;
export const maxRows = 200_000;
const maxLineBytes = 64 * 1024;
const maxColumns = 200;
const maxCellLength = 255;
const maxFindings = 100;
const maxUnits = 1_000_000_000_000;

const lineFeed = 0x0a;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// eslint-disable-next-line no-control-regex -- control characters are what is refused
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Collects what is wrong; `isFull` when nobody needs to read on. */
function createFindings() {
  const findings: Finding[] = [];
  return {
    findings,
    add: (line: number, code: Finding['code'], detail: string) => {
      if (findings.length < maxFindings) findings.push({ line, code, detail });
    },
    isFull: () => findings.length >= maxFindings,
  };
}
type Findings = ReturnType<typeof createFindings>;

/** The lines of a file with their numbers; lines that are no text are found and left out. */
function* linesOf(bytes: Uint8Array, found: Findings): Generator<readonly [text: string, line: number]> {
  for (let from = 0, line = 1; from < bytes.length && !found.isFull(); line++) {
    const end = bytes.indexOf(lineFeed, from);
    const raw = bytes.subarray(from, end === -1 ? undefined : end);
    from = end === -1 ? bytes.length : end + 1;
    if (raw.length > maxLineBytes) {
      found.add(line, 'line_too_long', `A line has at most ${maxLineBytes / 1024} KiB.`);
      continue;
    }
    let text: string;
    try {
      text = decoder.decode(raw);
    } catch {
      found.add(line, 'not_utf8', 'The line is not UTF-8. Save the file as UTF-8.');
      continue;
    }
    if (line === 1 && text.startsWith('\ufeff')) text = text.slice(1);
    if (text.endsWith('\r')) text = text.slice(0, -1);
    if (control.test(text)) found.add(line, 'control_character', 'The line has a control character.');
    else yield [text, line];
  }
}

/** The places of the mapped columns in the header, or what is wrong with it. */
function placesOf(header: readonly string[], columns: Columns, found: Findings): Map<keyof Columns, number> {
  const names = header.map((name) => name.trim());
  const places = new Map<keyof Columns, number>();
  if (names.length > maxColumns) found.add(1, 'too_many_columns', `A file has at most ${maxColumns} columns.`);
  for (const [field, name] of Object.entries(columns) as [keyof Columns, string | undefined][]) {
    if (name === undefined) continue;
    const place = names.indexOf(name.trim());
    if (place === -1) found.add(1, 'missing_column', `The header has no column “${name}”.`);
    else if (names.includes(name.trim(), place + 1))
      found.add(1, 'duplicate_column', `The header has the column “${name}” more than once.`);
    else places.set(field, place);
  }
  return places;
}

/** A whole number, with or without commas between thousands; undefined for anything else. */
function tryParseUnits(text: string): number | undefined {
  if (!/^(?:\d{1,13}|\d{1,3}(?:,\d{3}){1,4})$/.test(text)) return undefined;
  const units = Number(text.replaceAll(',', ''));
  return units <= maxUnits ? units : undefined;
}

/** Whether a text is a date of the calendar, as YYYY-MM-DD. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** The row of a line; undefined when something about it was found. */
function rowOf(
  { line, cells }: Extract<CsvRow, { readonly cells: readonly string[] }>,
  places: ReadonlyMap<keyof Columns, number>,
  found: Findings,
): CountedRow | undefined {
  const before = found.findings.length;
  const cellOf = (field: keyof Columns) => {
    const place = places.get(field);
    return place === undefined ? undefined : cells[place]!.trim();
  };
  const idOf = (field: 'serving' | 'line_item' | 'campaign' | 'creative') => {
    const text = cellOf(field);
    const what = field.replace('_', ' ');
    if (text === undefined) return undefined;
    if (text === '') found.add(line, 'empty_id', `The line names no ${what}. Leave out lines of totals.`);
    else if (text.length > maxCellLength)
      found.add(line, 'id_too_long', `The ${what} has more than ${maxCellLength} characters.`);
    else if (isFormula(text)) found.add(line, 'formula', `The ${what} begins like a formula of a spreadsheet.`);
    return text;
  };
  const isFoundOtherwise = places.has('line_item') || places.has('campaign');
  // The other columns find a row of which the source knows no serving.
  const serving = isFoundOtherwise && cellOf('serving') === '' ? undefined : idOf('serving');
  const [lineItem, campaign, creative] = [idOf('line_item'), idOf('campaign'), idOf('creative')];
  const day = cellOf('day');
  if (day !== undefined && !isDate(day)) found.add(line, 'not_a_date', 'The day is no date of the form 2026-11-30.');
  const units = tryParseUnits(cellOf('units')!);
  if (units === undefined)
    found.add(line, 'not_a_count', 'The units are no whole number from 0 on, such as 1200 or 1,200.');
  if (found.findings.length > before) return undefined;
  return {
    line,
    ...(serving !== undefined && { serving }),
    ...(lineItem !== undefined && { lineItem }),
    ...(campaign !== undefined && { campaign }),
    ...(creative !== undefined && { creative }),
    ...(day !== undefined && { day }),
    units: units!,
  };
}

/**
 * Reads a CSV with a header (RFC 4180; commas, semicolons, tabs or bars between the cells). Every line must be readable: the first 100 lines
 * that are not are named with the reason, and then there are no rows. Findings never quote the file. Others have the event loop in between.
 * @param bytes of the whole file, at most 20 MiB
 */
export async function readCounts(bytes: Uint8Array, columns: Columns): Promise<SourceRows> {
  if (bytes.length > maxFileBytes)
    return { findings: [{ code: 'file_too_large', detail: `A file has at most ${maxFileBytes / 2 ** 20} MiB.` }] };
  const found = createFindings();
  const rows: CountedRow[] = [];
  let header: { readonly width: number; readonly places: ReadonlyMap<keyof Columns, number> } | undefined;
  let reader: ReturnType<typeof createRowReader> | undefined;
  let count = 0;

  function take(read: CsvRow): void {
    if (found.isFull()) return;
    if ('problem' in read) return found.add(read.line, 'broken_quotes', `The line has ${read.problem}.`);
    if (!header) {
      header = { width: read.cells.length, places: placesOf(read.cells, columns, found) };
      return;
    }
    // Without its columns no line can be read.
    if (!header.places.has('units') || found.findings.some(({ line }) => line === 1)) return;
    count += 1;
    if (count > maxRows) {
      if (count === maxRows + 1)
        found.add(read.line, 'too_many_rows', `A file has at most ${maxRows.toLocaleString('en')} rows.`);
      return;
    }
    if (read.cells.length !== header.width)
      return found.add(
        read.line,
        'wrong_columns',
        `The line has ${read.cells.length} cells, and the header ${header.width}.`,
      );
    const row = rowOf(read, header.places, found);
    if (row) rows.push(row);
  }

  const turn = createTurns();
  for (const [text, line] of linesOf(bytes, found)) {
    await turn();
    reader ??= createRowReader(findDelimiter(text), take, { strict: true });
    reader.feed(text, line);
  }
  reader?.end();
  if (!header && found.findings.length === 0) found.add(1, 'empty_file', 'The file has no header.');
  return found.findings.length > 0 ? { findings: found.findings } : { rows };
}
