import { closeSync, createReadStream, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseLogLine, type LogLine } from './log-line.ts';

/** One log file, up to the last line that was whole when it was found. */
export interface LogFile {
  readonly source: string;
  readonly file: string;
  readonly sizeBytes: number;
}

const ending = '.log';
const newline = 0x0a;
/** No line of ours is longer. */
const longestLineBytes = 1 << 20;

/** Bytes of a file up to the end of its last whole line. */
function wholeSize(file: string): number {
  const opened = openSync(file, 'r');
  try {
    const { size } = fstatSync(opened);
    const from = Math.max(0, size - longestLineBytes);
    const end = Buffer.alloc(size - from);
    readSync(opened, end, 0, end.length, from);
    return from + end.lastIndexOf(newline) + 1;
  } finally {
    closeSync(opened);
  }
}

/** The log files of a folder, by name of their service or engine. */
export function findLogs(folder: string): readonly LogFile[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => {
      const file = path.join(folder, name);
      return { source: name.slice(0, -ending.length), file, sizeBytes: wholeSize(file) };
    });
}

async function* readLog({ source, file, sizeBytes }: LogFile): AsyncGenerator<LogLine> {
  if (sizeBytes === 0) return;
  let time = '';
  const input = createReadStream(file, { end: sizeBytes - 1 });
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    const line = parseLogLine(source, text, time);
    time = line.time;
    if (text !== '') yield line;
  }
}

/** The lines of several files in the order of their times. Holds one line of each file. */
export async function* readLogs(files: readonly LogFile[]): AsyncGenerator<LogLine> {
  const readers = files.map(readLog);
  const heads = await Promise.all(readers.map((reader) => reader.next()));
  for (;;) {
    let first = -1;
    for (const [at, { done, value }] of heads.entries())
      if (!done && (first < 0 || value.time < (heads[first]!.value as LogLine).time)) first = at;
    if (first < 0) return;
    yield heads[first]!.value as LogLine;
    heads[first] = await readers[first]!.next();
  }
}

/** Reads what was added to a file behind a byte. A file that is shorter now began anew. */
async function readAdded(file: string, from: number): Promise<{ readonly text: string; readonly end: number }> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const begin = size < from ? 0 : from;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - begin), 0, size - begin, begin);
    const whole = buffer.subarray(0, bytesRead).lastIndexOf(newline) + 1;
    return { text: buffer.toString('utf8', 0, whole), end: begin + whole };
  } finally {
    await handle.close();
  }
}

const lookEveryMs = 250;

/**
 * The lines that are added to the logs of a folder, as they come, until the signal aborts.
 * @param known files that were read already, up to their sizes; the lines of others are new from their first
 * @param wants false: lines of this source are left out
 */
export async function* followLogs(
  folder: string,
  known: readonly LogFile[],
  wants: (source: string) => boolean,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const ends = new Map(known.map(({ file, sizeBytes }) => [file, sizeBytes]));
  const times = new Map<string, string>();
  while (!signal.aborted) {
    for (const { source, file, sizeBytes } of findLogs(folder)) {
      if (!wants(source) || sizeBytes === ends.get(file)) continue;
      const { text, end } = await readAdded(file, ends.get(file) ?? 0);
      ends.set(file, end);
      for (const each of text.split('\n')) {
        if (each === '') continue;
        const line = parseLogLine(source, each, times.get(file) ?? '');
        times.set(file, line.time);
        yield line;
      }
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(end, lookEveryMs);
      function end() {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      }
      signal.addEventListener('abort', end, { once: true });
    });
  }
}
