import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeJsonPrivately } from '../write-privately.ts';
import { keyNames, type KeyName } from './key-kinds.ts';
import type { RotationRecord } from './rotation-plan.ts';

type Records = Readonly<Partial<Record<KeyName, RotationRecord>>>;

const fileOf = (folder: string) => path.join(folder, 'rotations.json');

function readRecords(folder: string): Records {
  const file = fileOf(folder);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Records) : {};
}

/** When the key of that name in a folder of secrets was made; nothing is known of keys that are older than these notes. */
export const recordOf = (folder: string, name: KeyName): RotationRecord =>
  readRecords(folder)[name] ?? { replaced_at: [] };

export const saveRecord = (folder: string, name: KeyName, record: RotationRecord): void =>
  writeJsonPrivately(fileOf(folder), { ...readRecords(folder), [name]: record });

/** Notes that all keys of a new folder were made now. */
export function noteFirstKeys(folder: string, now: Date): void {
  const made: RotationRecord = { made_at: now.toISOString(), replaced_at: [] };
  writeJsonPrivately(fileOf(folder), Object.fromEntries(keyNames.map((name) => [name, made])));
}
