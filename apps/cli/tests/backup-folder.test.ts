import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { backupName, isBackupName } from '../src/backup/manifest.ts';
import { removeUnfinished } from '../src/backup/remove-unfinished.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'longwave-backups-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Makes a file with the folders above it. */
function put(...names: string[]): string {
  const file = path.join(folder, ...names);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, 'content');
  return file;
}

test('a backup removes what interrupted ones left, and nothing that others put into the folder', () => {
  const left = [
    put('backups', '2026-11-25T22-45-19Z', 'database', 'rows.gz'),
    put('objects', '.unfinished-6f2b0f6e-0d8a-4e0f-9a57-6c1f0e6a4f10'),
  ];
  const kept = [
    put('backups', '2026-11-24T22-45-19Z', 'manifest.json'),
    put('backups', 'photos', 'holiday.jpg'),
    put('backups', '2026-11-25T22-45-19Z.tar'),
    put('objects', '.unfinished-letter'),
  ];
  removeUnfinished(folder);
  expect(left.filter(existsSync)).toEqual([]);
  expect(kept.filter((file) => !existsSync(file))).toEqual([]);
});

test.each(['backups', 'objects'])(
  'a folder whose %s is a symbolic link is refused, and what it leads to stays',
  (part) => {
    const file = put('elsewhere', '2026-11-25T22-45-19Z', 'rows.gz');
    symlinkSync(path.join(folder, 'elsewhere'), path.join(folder, part));
    expect(() => removeUnfinished(folder)).toThrow(`${path.join(folder, part)} is a symbolic link`);
    expect(existsSync(file)).toBe(true);
  },
);

test('the name of every backup is known as one', () => {
  expect(isBackupName(backupName(new Date()))).toBe(true);
});
