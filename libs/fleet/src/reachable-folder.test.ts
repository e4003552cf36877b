import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { followMove, locateFolder, postgresUser, reachableFolder, removeReachableFolder } from './reachable-folder.ts';

let folder: string;
beforeEach(() => {
  // Nobody but its owner may pass through it.
  folder = mkdtempSync(path.join(tmpdir(), 'longwave-reachable-'));
});
afterEach(() => rmSync(folder, { recursive: true }));
const inside = (...names: string[]) => path.join(folder, ...names);

test('a pointer to a folder that is none of ours is refused, and removal leaves that folder alone', () => {
  const foreign = inside('photos');
  mkdirSync(foreign);
  const wanted = inside('postgres');
  writeFileSync(`${wanted}.location`, foreign);
  // Whoever wrote the pointer can write this too.
  writeFileSync(inside('photos', 'pointer'), `${wanted}.location`);
  expect(() => locateFolder(wanted)).toThrow(`names ${foreign}, where no database of Longwave is`);
  expect(() => followMove(wanted)).toThrow('where no database of Longwave is');
  removeReachableFolder(wanted);
  expect([existsSync(foreign), existsSync(`${wanted}.location`)]).toEqual([true, false]);
});

const asRoot = process.getuid?.() === 0 ? test : test.skip;

asRoot('the removal of a copy leaves the database of the first folder, which the copy points to', () => {
  const [first, copy, moved] = ['first', 'copy', 'moved'].map((name) => inside(name, 'postgres'));
  const database = reachableFolder(first!, postgresUser());
  writeFileSync(path.join(database, 'rows'), 'kept');
  cpSync(inside('first'), inside('copy'), { recursive: true });
  removeReachableFolder(copy!);
  expect(readFileSync(path.join(database, 'rows'), 'utf8')).toBe('kept');
  renameSync(inside('first'), inside('moved'));
  followMove(moved!);
  removeReachableFolder(moved!);
  expect(existsSync(database)).toBe(false);
});
