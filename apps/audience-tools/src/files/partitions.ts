import { closeSync, mkdtempSync, openSync, rmSync, writeSync, createReadStream } from 'node:fs';
import path from 'node:path';
import { readLines } from './read-lines.ts';

const partitionCount = 64;
const maxBuffered = 64 * 1024;

/** Lines with a key each, spread over files by their keys: equal keys are in the same file. */
export interface Partitions {
  /** Neither key nor line may hold a line break, and the key no tab. */
  add(key: string, line: string): void;
  /** The files; every set of partitions of one level has equal keys at equal indices. */
  readonly parts: readonly Partition[];
  /** Removes the files. */
  remove(): void;
}

export interface Partition {
  readonly lines: number;
  /** Key and line of each, in groups. */
  read(): AsyncGenerator<(readonly [key: string, line: string])[]>;
}

/** FNV-1a, 32 bits; each level has another hash. */
function hash(text: string, level: number): number {
  let value = 0x811c9dc5 ^ Math.imul(level, 0x9e3779b1);
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}

/**
 * Empty partitions in a folder.
 * @param level keys that share a file on one level are spread by the next
 */
export function createPartitions(folder: string, level = 0): Partitions {
  const own = mkdtempSync(path.join(folder, `${level}-`));
  const files = Array.from({ length: partitionCount }, (_, index) => ({
    name: path.join(own, String(index)),
    lines: 0,
    buffered: '',
    descriptor: undefined as number | undefined,
  }));
  type File = (typeof files)[number];
  const flush = (file: File) => {
    if (file.buffered === '') return;
    file.descriptor ??= openSync(file.name, 'a', 0o600);
    const bytes = Buffer.from(file.buffered, 'utf8');
    for (let at = 0; at < bytes.length;) at += writeSync(file.descriptor, bytes, at);
    file.buffered = '';
  };
  const read = async function* (file: File) {
    flush(file);
    if (file.lines === 0) return;
    for await (const lines of readLines(createReadStream(file.name, { highWaterMark: 256 * 1024 })))
      yield lines.map((line) => {
        const tab = line.indexOf('\t');
        return [line.slice(0, tab), line.slice(tab + 1)] as const;
      });
  };
  return {
    add: (key, line) => {
      const file = files[hash(key, level) % partitionCount]!;
      file.buffered += `${key}\t${line}\n`;
      file.lines += 1;
      if (file.buffered.length >= maxBuffered) flush(file);
    },
    parts: files.map((file) => ({
      get lines() {
        return file.lines;
      },
      read: () => read(file),
    })),
    remove: () => {
      for (const file of files) if (file.descriptor !== undefined) closeSync(file.descriptor);
      rmSync(own, { recursive: true, force: true });
    },
  };
}

/** Keys that share a file on so many levels are nearly always one key. */
const maxLevels = 5;

/**
 * Visits the partitions that hold lines; one that is too large for the memory is first spread over finer ones.
 * @param folder for finer partitions
 * @param maxLines of one partition, unless its lines have one key
 */
export async function* visitPartitions(
  partitions: Partitions,
  folder: string,
  maxLines: number,
  level = 0,
): AsyncGenerator<Partition> {
  for (const part of partitions.parts) {
    if (part.lines > maxLines && level < maxLevels) {
      const finer = createPartitions(folder, level + 1);
      for await (const group of part.read()) for (const [key, line] of group) finer.add(key, line);
      yield* visitPartitions(finer, folder, maxLines, level + 1);
      finer.remove();
    } else if (part.lines > 0) yield part;
  }
}
