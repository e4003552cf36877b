import { readFileSync } from 'node:fs';

/** The JSON of a file; undefined where there is no such file, or not all of it yet. */
export function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
}
