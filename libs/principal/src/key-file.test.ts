import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openKeyFile } from './key-file.ts';

let folder: string;
let file: string;
let now: number;
let errors: unknown[];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'key-file-'));
  file = path.join(folder, 'keys.json');
  now = 0;
  errors = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

/** As an operator's tools do it: whole or not at all. */
function write(text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}
const holding = (...kids: string[]) => write(JSON.stringify({ keys: kids.map((kid) => ({ kid, kty: 'EC' })) }));
function open() {
  const keys = openKeyFile(file, { now: () => now, onError: (error) => errors.push(error) });
  return (kid: string) => keys().find((key) => key.kid === kid);
}

test('a key that is added is found, and a removed one is not, within a second', () => {
  holding('one');
  const find = open();
  expect([find('one')?.kid, find('two')]).toEqual(['one', undefined]);
  holding('two', 'one');
  now += 1_000;
  expect([find('one')?.kid, find('two')?.kid]).toEqual(['one', 'two']);
  holding('two');
  now += 1_000;
  expect([find('one'), find('two')?.kid]).toEqual([undefined, 'two']);
});

test('the file is checked at most once a second', () => {
  holding('one');
  const find = open();
  holding('two');
  now += 999;
  expect([find('one')?.kid, find('two')]).toEqual(['one', undefined]);
});

test('while the file cannot be read its keys stay, and the error is reported', () => {
  holding('one');
  const find = open();
  write('{"keys": [');
  now += 1_000;
  expect(find('one')?.kid).toBe('one');
  rmSync(file);
  now += 1_000;
  expect(find('one')?.kid).toBe('one');
  expect(errors).toHaveLength(2);
  holding('two');
  now += 1_000;
  expect([find('one'), find('two')?.kid]).toEqual([undefined, 'two']);
});

test('a file that is missing at the start is an error', () => {
  expect(open).toThrow('ENOENT');
});
