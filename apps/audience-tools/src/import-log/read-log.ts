import { firstBytes, openPlain, readLines } from '../files/read-lines.ts';
import { readAvroRecords } from './avro-records.ts';
import { createColumnReport, isColumnName, type ColumnReport, type FileColumns } from './column-report.ts';
import { combinedColumns, tryParseCombinedLine } from './combined-line.ts';
import { createRowReader, findDelimiter, type CsvRow } from '@longwave/csv';
import { findColumns, type LogColumns, type NamedColumns } from './log-columns.ts';
import { tryParseRecord, type PrefixRecord } from './prefix-record.ts';

/** A record of a log, or why it is malformed, with the number of its line (in an Avro file, of the record). */
type LogEntry =
  { readonly line: number; readonly record: PrefixRecord } | { readonly line: number; readonly problem: string };

export const logFormats = ['csv', 'jsonl', 'avro', 'combined'] as const;
export type LogFormat = (typeof logFormats)[number];

/** An unreadable log; the message says what to do. */
class UnreadableLog extends Error {}

function entryOf(line: number, fields: ReturnType<LogColumns['read']>): LogEntry {
  const record = tryParseRecord(fields);
  return typeof record === 'string' ? { line, problem: record } : { line, record };
}

/** Makes the reader of a file whose columns are known at its start. Messages never quote a first line of values. */
function columnsOf(
  file: string,
  names: readonly string[],
  named: NamedColumns,
  report: ColumnReport,
): LogColumns['read'] {
  const { read, missing, ...columns } = findColumns(names, named);
  report.note(columns);
  if (missing.length === 0) return read;
  const instead = names.every(isColumnName)
    ? `Its columns are ${names.join(', ')}. Say with --columns which of them it is.`
    : 'Its first line contains values instead of column names. Put a line with names before it, or name the format with --format.';
  throw new UnreadableLog(`${file} has no column for ${missing.join(', ')}. ${instead}`);
}

const maxBytes = 1024 * 1024;

/** The header of a CSV: the first line, or the `#Fields:` of a W3C extended log file, whose delimiter is a tab. */
function tryParseHeader(line: string): { readonly names: readonly string[]; readonly delimiter: string } | undefined {
  const fields = /^#Fields:\s*(.*)$/.exec(line)?.[1];
  if (fields !== undefined) return { names: fields.trim().split(/\s+/), delimiter: '\t' };
  if (line.startsWith('#') || line === '') return undefined;
  const delimiter = findDelimiter(line);
  let names: readonly string[] = [];
  const header = createRowReader(delimiter, (row) => void (names = 'cells' in row ? row.cells : []));
  header.feed(line.replace(/^\ufeff/, ''), 1);
  return { names: names.map((name) => name.trim()), delimiter };
}

async function* readCsv(file: string, named: NamedColumns, report: ColumnReport): AsyncGenerator<LogEntry[]> {
  let group: LogEntry[] = [];
  let reader: ReturnType<typeof createRowReader> | undefined;
  let isExtended = false;
  let number = 0;
  const start = (line: string) => {
    const header = tryParseHeader(line);
    if (!header) return;
    isExtended = line.startsWith('#');
    const { names, delimiter } = header;
    const read = columnsOf(file, names, named, report);
    const places = new Map(names.map((name, index) => [name, index]));
    const add = (row: CsvRow) => {
      if ('problem' in row) group.push(row);
      else if (row.cells.length !== names.length)
        group.push({ line: row.line, problem: `${row.cells.length} cells under ${names.length} columns` });
      else
        group.push(
          entryOf(
            row.line,
            read((name) => row.cells[places.get(name)!]),
          ),
        );
    };
    reader = createRowReader(delimiter, add);
  };
  for await (const lines of readLines(await openPlain(file), maxBytes)) {
    for (const line of lines) {
      number += 1;
      if (reader && !(isExtended && line.startsWith('#'))) reader.feed(line, number);
      else start(line);
    }
    yield group;
    group = [];
  }
  if (!reader) throw new UnreadableLog(`${file} has no header line. The first line must name the columns.`);
  reader.end();
  yield group;
}

const maxShapes = 1_000;

/** Records may leave out members, so the columns are found for every shape of record. */
async function* readJsonLines(file: string, named: NamedColumns, report: ColumnReport): AsyncGenerator<LogEntry[]> {
  const shapes = new Map<string, LogColumns>();
  let number = 0;
  const parse = (line: string): LogEntry => {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return { line: number, problem: 'not JSON' };
    }
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      return { line: number, problem: 'no JSON object' };
    const columns = new Map(Object.entries(value));
    const names = [...columns.keys()];
    const shape = JSON.stringify(names);
    const found = shapes.get(shape) ?? findColumns(names, named);
    if (!shapes.has(shape)) report.note(found);
    if (shapes.size < maxShapes) shapes.set(shape, found);
    return entryOf(
      number,
      found.read((name) => columns.get(name)),
    );
  };
  for await (const lines of readLines(await openPlain(file), maxBytes)) {
    const group: LogEntry[] = [];
    for (const line of lines) {
      number += 1;
      if (line.trim() !== '') group.push(parse(line));
    }
    yield group;
  }
}

const groupSize = 500;

async function* readAvro(file: string, named: NamedColumns, report: ColumnReport): AsyncGenerator<LogEntry[]> {
  let read: LogColumns['read'] | undefined;
  let number = 0;
  let group: LogEntry[] = [];
  try {
    for await (const columns of readAvroRecords(file)) {
      number += 1;
      read ??= columnsOf(file, [...columns.keys()], named, report);
      group.push(
        entryOf(
          number,
          read((name) => columns.get(name)),
        ),
      );
      if (group.length < groupSize) continue;
      yield group;
      group = [];
    }
  } catch (error) {
    if (error instanceof UnreadableLog) throw error;
    throw new UnreadableLog(
      `${file} is not a complete Avro object container file, or its codec is neither null nor deflate (after record ${number}).`,
      { cause: error },
    );
  }
  yield group;
}

/** The combined format of Apache and nginx has no header: every line is a record. */
async function* readCombined(file: string, _named: NamedColumns, report: ColumnReport): AsyncGenerator<LogEntry[]> {
  report.note({ understood: combinedColumns, ignored: ['identity', 'user'] });
  let hasMore = false;
  let number = 0;
  for await (const lines of readLines(await openPlain(file), maxBytes)) {
    const group: LogEntry[] = [];
    for (const line of lines) {
      number += 1;
      if (line.trim() === '') continue;
      const parsed = tryParseCombinedLine(line);
      group.push(parsed ? entryOf(number, parsed.fields) : { line: number, problem: 'not in the combined format' });
      hasMore ||= parsed?.hasMore === true;
    }
    yield group;
  }
  if (hasMore) report.note({ understood: [], ignored: ['fields behind the user agent'] });
}

/**
 * The format of a file by its first bytes: the magic number of Avro, a brace (JSON lines), a line of the combined format, or else CSV.
 */
async function formatOf(file: string): Promise<LogFormat> {
  const plain = await openPlain(file);
  for await (const chunk of plain) {
    if (chunk.subarray(0, 4).equals(Buffer.from('Obj\u0001'))) return 'avro';
    const text = chunk.toString('utf8').trimStart();
    if (text.startsWith('{')) return 'jsonl';
    return tryParseCombinedLine(text.split(/\r?\n/, 1)[0]!) ? 'combined' : 'csv';
  }
  return 'csv';
}

const readers = { csv: readCsv, jsonl: readJsonLines, avro: readAvro, combined: readCombined } as const;

/** A log: its records in groups, and its columns as far as it was read. */
export interface LogFile {
  readonly entries: AsyncIterable<readonly LogEntry[]>;
  readonly columns: () => FileColumns;
}

/**
 * Reads the records of a log, unpacked when it is gzip. Reading throws `UnreadableLog` when the file lacks a required column or is not in
 * the format.
 */
export function readLog(file: string, format: LogFormat | undefined, named: NamedColumns): LogFile {
  const report = createColumnReport();
  const entries = async function* () {
    if ((await firstBytes(file, 1)).length === 0) throw new UnreadableLog(`${file} is empty.`);
    yield* readers[format ?? (await formatOf(file))](file, named, report);
  };
  return { entries: entries(), columns: report.read };
}
