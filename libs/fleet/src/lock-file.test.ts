import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findHolder, lockFile } from './lock-file.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'longwave-lock-'));
  file = path.join(folder, 'lock.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const refuse = () => new Error('held');

test('a lock has one holder until its release, and leaves no file behind', () => {
  const release = lockFile(file, refuse, { purpose: 'test' });
  expect(findHolder<{ purpose: string }>(file)).toMatchObject({ pid: process.pid, purpose: 'test' });
  expect(() => lockFile(file, refuse)).toThrow('held');
  expect(readdirSync(folder)).toEqual(['lock.json']);
  release();
  expect(readdirSync(folder)).toEqual([]);
});

test('the lock of a process that has died is taken over', () => {
  writeFileSync(file, JSON.stringify({ pid: 2 ** 30, startedAt: 'long ago' }));
  lockFile(file, refuse)();
});

/** Takes a lock over again and again, each time from a holder that has died; answers how often, and whether another one held it too. */
const taker = `
  import { renameSync, rmSync, writeFileSync } from 'node:fs';
  import { lockFile } from ${JSON.stringify(path.join(import.meta.dirname, 'lock-file.ts'))};
  const [file, me] = process.argv.slice(1);
  const seen = { taken: 0, shared: 0 };
  const end = performance.now() + 1_500;
  while (performance.now() < end)
    try {
      lockFile(file, () => new Error('held'));
      try {
        writeFileSync(file + '.held', me, { flag: 'wx' });
        seen.taken++;
        rmSync(file + '.held');
      } catch {
        seen.shared++;
      }
      const dead = file + '.dead-' + me;
      writeFileSync(dead, JSON.stringify({ pid: 2 ** 30, startedAt: 'round ' + seen.taken + ' of ' + me }));
      renameSync(dead, file);
    } catch (error) {
      if (error.message !== 'held') throw error;
    }
  console.log(JSON.stringify(seen));`;

test('of several processes that take over the lock of a dead one at once, one holds it', async () => {
  writeFileSync(file, JSON.stringify({ pid: 2 ** 30, startedAt: 'long ago' }));
  const run = promisify(execFile);
  const seen = await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (me) => {
      const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', taker, file, me]);
      return JSON.parse(stdout) as { readonly taken: number; readonly shared: number };
    }),
  );
  expect(seen.reduce((sum, { taken }) => sum + taken, 0)).toBeGreaterThan(10);
  expect(seen.map(({ shared }) => shared)).toEqual([0, 0, 0, 0]);
});

const watcher = `
  const { readFileSync } = require('node:fs');
  const { workerData, parentPort } = require('node:worker_threads');
  const isOver = new Int32Array(workerData.isOver);
  const seen = { whole: 0, unfinished: 0 };
  parentPort.postMessage('ready');
  while (Atomics.load(isOver, 0) === 0)
    try {
      JSON.parse(readFileSync(workerData.file, 'utf8'));
      seen.whole++;
    } catch (error) {
      if (error.code !== 'ENOENT') seen.unfinished++;
    }
  parentPort.postMessage(seen);`;

test('who looks while a lock is made sees none or a whole one, which it does not take for one that was left behind', async () => {
  const isOver = new SharedArrayBuffer(4);
  const worker = new Worker(watcher, { eval: true, workerData: { file, isOver } });
  try {
    await once(worker, 'message');
    for (let i = 0; i < 1_000; i++) lockFile(file, refuse)();
    Atomics.store(new Int32Array(isOver), 0, 1);
    const [seen] = (await once(worker, 'message')) as [{ whole: number; unfinished: number }];
    expect(seen.unfinished).toBe(0);
    expect(seen.whole).toBeGreaterThan(0);
  } finally {
    await worker.terminate();
  }
});
