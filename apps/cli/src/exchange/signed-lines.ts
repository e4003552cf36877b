import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { tryReadSigned, type SignedMessage } from '@longwave/exchange-client';
import { UsageError } from '../command.ts';

/** JSON values of a file, one in each line. Throws `UsageError` when it cannot be read. */
export function readLines(file: string): unknown[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown);
  } catch (error) {
    throw new UsageError(`${file} cannot be read as lines of JSON: ${(error as Error).message}`);
  }
}

/** Appends signed messages to a file, one in each line, as `export` writes them too. They are on the disk when it returns. */
export function appendSigned(file: string, messages: readonly SignedMessage[]): void {
  // The last line of a program that was killed may have no end.
  const isTorn = existsSync(file) && !/(^|\n)$/.test(readFileSync(file, 'utf8'));
  const lines = messages.map(({ sequence, digest, envelope }) => JSON.stringify({ sequence, digest, ...envelope }));
  const descriptor = openSync(file, 'a');
  try {
    writeSync(descriptor, `${isTorn ? '\n' : ''}${lines.join('\n')}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function tryJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The signed messages of a file. Throws `UsageError` that names the first line which has none. */
export function readSigned(file: string): readonly SignedMessage[] {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
  const messages = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const message = tryReadSigned(tryJson(line));
    if (message) return [message];
    throw new UsageError(
      `Line ${index + 1} of ${file} is no signed message. Each line is a JSON object with “protected”, “payload” and “signature”, as --keep and “export” write it.`,
    );
  });
  if (messages.length === 0) throw new UsageError(`${file} has no messages.`);
  return messages;
}
