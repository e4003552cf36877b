import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createOpenFiles, type OpenFiles } from './open-files.ts';

let folder: string;
let files: OpenFiles;
const at = (name: string) => path.join(folder, name);

/** How many of the folder's files this process holds open. */
async function held(): Promise<number> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((link) => link.startsWith(folder)).length;
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'open-files-'));
  for (const name of ['a', 'b', 'c']) await writeFile(at(name), name.repeat(10));
  files = createOpenFiles(2);
});
afterEach(async () => {
  await files[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('readers of a file share one handle, which stays open for the next', async () => {
  const readers = await Promise.all(Array.from({ length: 5 }, () => files.open(at('a'), 10)));
  expect(new Set(readers.map((reader) => reader!.handle)).size).toBe(1);
  await Promise.all(readers.map((reader) => reader!.leave()));
  expect(await held()).toBe(1);
  expect((await files.open(at('a'), 10))!.handle).toBe(readers[0]!.handle);
});

test('beyond the limit the least recently used is closed, but not under its reader', async () => {
  const a = await files.open(at('a'), 10);
  for (const name of ['b', 'c']) await (await files.open(at(name), 10))!.leave();
  expect(await held()).toBe(3);
  expect((await a!.handle.read(Buffer.alloc(10), 0, 10, 0)).bytesRead).toBe(10);
  await a!.leave();
  expect(await held()).toBe(2);
});

test('a file that is absent or of another size is not opened, and may come later', async () => {
  expect(await files.open(at('d'), 10)).toBeUndefined();
  expect(await files.open(at('a'), 11)).toBeUndefined();
  expect(await held()).toBe(0);
  await writeFile(at('d'), 'd'.repeat(10));
  expect(await files.open(at('d'), 10)).toBeDefined();
});

test('a forgotten file is opened anew', async () => {
  const first = await files.open(at('a'), 10);
  await rm(at('a'));
  await writeFile(at('a'), 'z'.repeat(10));
  files.forget(at('a'));
  const second = await files.open(at('a'), 10);
  const read = async ({ handle }: NonNullable<typeof first>) =>
    (await handle.read(Buffer.alloc(1), 0, 1, 0)).buffer.toString();
  expect([await read(first!), await read(second!)]).toEqual(['a', 'z']);
  await first!.leave();
  await second!.leave();
  expect(await held()).toBe(1);
});
