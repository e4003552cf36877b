import { renameSync, writeFileSync } from 'node:fs';

/** Writes a file that its owner alone reads, under its name only once it is whole. */
export function writePrivately(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
