import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogger } from '@longwave/service-kit';
import { openFactJournal } from './fact-journal.ts';

let logged: { readonly event: string }[];
const logger = createLogger('test', 'info', {
  write: (line: string) => void logged.push(JSON.parse(line) as (typeof logged)[number]),
});
let folder: string;
let published: string[];
let busIsDown: boolean;

const publish = async (lines: readonly string[]) => {
  if (busIsDown) throw new Error('down');
  published.push(...lines);
};
/** Flushes only when told, so that each step is decided by the test. */
const open = (rewindBytes = 1 << 20) =>
  openFactJournal({ folder, publish, logger, flushEveryMs: 1 << 30, rewindBytes });
const file = () => path.join(folder, 'facts.jsonl');
const lines = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `{"n":${from + i}}`);

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'journal-'));
  published = [];
  logged = [];
  busIsDown = false;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('lines are published once, in order, and a clean stop leaves nothing behind', async () => {
  const journal = await open();
  for (const line of lines(3000)) journal.append(line);
  expect(await journal.flush()).toBe(true);
  journal.append('{"n":3000}');
  await journal[Symbol.asyncDispose]();
  expect(published).toEqual(lines(3001));
  expect((await stat(file())).size).toBe(0);
});

test('no other user of the machine may read facts of listeners', async () => {
  folder = path.join(folder, 'inside');
  await using journal = await open();
  journal.append('{"n":0}');
  const modes = await Promise.all([folder, file()].map(async (name) => (await stat(name)).mode & 0o077));
  expect(modes).toEqual([0, 0]);
});

test('while the bus is down nothing is lost, and afterwards everything comes in order', async () => {
  const journal = await open();
  busIsDown = true;
  for (const line of lines(10)) journal.append(line);
  expect(await journal.flush()).toBe(false);
  for (const line of lines(10, 10)) journal.append(line);
  expect(await journal.flush()).toBe(false);
  busIsDown = false;
  expect(await journal.flush()).toBe(true);
  expect(published).toEqual(lines(20));
  await journal[Symbol.asyncDispose]();
});

test('the next process publishes lines that a stopped one could not publish', async () => {
  busIsDown = true;
  const first = await open();
  for (const line of lines(5)) first.append(line);
  await first[Symbol.asyncDispose]();
  busIsDown = false;
  const second = await open();
  second.append('{"n":5}');
  await second.flush();
  expect(published).toEqual(lines(6));
  await second[Symbol.asyncDispose]();
});

test('a line cut by a crash does not swallow the next one', async () => {
  await appendFile(file(), '{"n":0}\n{"cut');
  const journal = await open();
  journal.append('{"n":1}');
  await journal.flush();
  expect(published).toEqual(['{"n":0}', '{"cut', '{"n":1}']);
  await journal[Symbol.asyncDispose]();
});

test('kept lines are in the file when `keep` resolves, in order, also between appended ones', async () => {
  const journal = await open();
  busIsDown = true;
  const kept = lines(60).map((line, i) => {
    journal.append(`${line}`);
    return journal.keep([`{"kept":${i}}`, `{"too":${i}}`]).then(() => readFile(file(), 'utf8'));
  });
  for (const [i, text] of (await Promise.all(kept)).entries()) {
    const expected = lines(i + 1).map((line, n) => `${line}\n{"kept":${n}}\n{"too":${n}}\n`);
    expect(text.startsWith(expected.join(''))).toBe(true);
  }
  await journal[Symbol.asyncDispose]();
});

test('lines that the disk does not take are refused', async () => {
  const journal = await open();
  await journal[Symbol.asyncDispose]();
  await expect(journal.keep(['{"n":0}'])).rejects.toThrow();
});

test('more than one batch is read in whole lines, multi-byte characters included', async () => {
  const journal = await open(1);
  const long = Array.from({ length: 3000 }, (_, i) => JSON.stringify({ i, text: 'ä€😀'.repeat(100) }));
  for (const line of long) journal.append(line);
  expect(await journal.flush()).toBe(true);
  expect(published).toEqual(long);
  expect((await readFile(file())).length).toBe(0);
  journal.append('{"after":1}');
  await journal.flush();
  expect(published.at(-1)).toBe('{"after":1}');
  await journal[Symbol.asyncDispose]();
});

describe('a line that is too large', () => {
  const large = (characters: number, text = 'x') => `{"n":"${text.repeat(characters)}"}`;

  test('is refused with its size in the log, and stops no other', async () => {
    const journal = await open();
    journal.append('{"n":0}');
    journal.append(large(3 << 20));
    journal.append(large(256 << 10, 'ä'));
    journal.append('{"n":1}');
    await expect(journal.keep(['{"n":2}', large(3 << 20)])).rejects.toThrow('too large');
    expect(await journal.flush()).toBe(true);
    expect(published).toEqual(['{"n":0}', '{"n":1}']);
    expect(logged.filter(({ event }) => event === 'facts.too_large')).toMatchObject([
      { sizeBytes: (3 << 20) + 8 },
      { sizeBytes: (512 << 10) + 8 },
      { sizeBytes: (3 << 20) + 8 },
    ]);
    await journal[Symbol.asyncDispose]();
  });

  test('a line just below the bound is published, wherever a batch ends', async () => {
    const journal = await open();
    const longest = [0, 1, 2, 3, 4].map((nth) => large((512 << 10) - 8 - nth));
    for (const line of longest) journal.append(line);
    expect(await journal.flush()).toBe(true);
    expect(published).toEqual(longest);
    await journal[Symbol.asyncDispose]();
  });

  test('one that stands in the file is left out, and the lines behind it are published', async () => {
    await appendFile(file(), `{"n":0}\n${large(3 << 20)}\n{"n":1}\n`);
    const journal = await open();
    journal.append('{"n":2}');
    expect(await journal.flush()).toBe(true);
    // The end of it is no line that anybody can read.
    expect(published.filter((line) => line.startsWith('{'))).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']);
    expect(logged).toContainEqual(expect.objectContaining({ event: 'facts.too_large' }));
    await journal[Symbol.asyncDispose]();
  });
});
