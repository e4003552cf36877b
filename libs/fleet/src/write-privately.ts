import { renameSync, writeFileSync } from 'node:fs';

/** Replaces a file at once by one that only its owner reads. */
export function writePrivately(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export const writeJsonPrivately = (file: string, value: unknown): void =>
  writePrivately(file, `${JSON.stringify(value, null, 2)}\n`);
