import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { findBrowser, sha256, until } from '@longwave/test-kit';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { partSize, startUploadWorld, type UploadWorld } from './_upload-world.ts';

/** An upload as the page lists it. */
interface Listed {
  readonly id: string;
  readonly name: string;
  readonly phase: string;
  readonly sent: number;
  readonly fileUrl?: string;
}

const stack = new AsyncDisposableStack();
let world: UploadWorld;
let browser: Browser;
const folder = mkdtempSync(path.join(tmpdir(), 'longwave-upload-'));

beforeAll(async () => {
  stack.defer(() => rmSync(folder, { recursive: true }));
  [world, browser] = await Promise.all([
    startUploadWorld(),
    chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-gpu'] }),
  ]);
  stack.use(world);
  stack.defer(() => browser.close());
});
afterAll(() => stack.disposeAsync());
beforeEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  world.meet(() => 'pass');
  world.log.length = 0;
});

/** Bytes of a file with so many parts: the last one is small. */
const bytesOf = (parts: number) => (parts - 1) * partSize + 1000;

function makeFile(name: string, sizeBytes: number) {
  const bytes = randomBytes(sizeBytes);
  const file = path.join(folder, name);
  writeFileSync(file, bytes);
  return { file, digest: sha256(bytes) };
}

async function openPage(context?: BrowserContext): Promise<Page> {
  const tab = await (context ?? (await browser.newContext())).newPage();
  await ready(tab);
  return tab;
}
/** Asked from outside: the policy of the page lets no text be run by the page itself. */
const loaded = (tab: Page) => until('the page', async () => (await tab.title()) === 'ready');
async function ready(tab: Page): Promise<void> {
  await tab.goto(world.url);
  await loaded(tab);
}
const choose = (tab: Page, file: string) => tab.locator('input').setInputFiles(file);
const upload = (tab: Page) => tab.evaluate<Listed | undefined>('page.uploads.current()[0]');
const keptParts = (tab: Page) => tab.evaluate<number[]>('page.storedParts()');
const phases = (tab: Page) => tab.evaluate<string[]>('page.phases');
async function sent(tab: Page) {
  await until('the upload', async () => ['sent', 'failed'].includes((await upload(tab))?.phase ?? ''));
  return (await upload(tab))!;
}
/** The parts that the store took, each as often as it was sent. */
const storedParts = () =>
  world.log
    .filter(({ method, part, status }) => method === 'PUT' && part !== undefined && status === 200)
    .map(({ part }) => part)
    .toSorted((a, b) => a! - b!);

test('after a reload at 40 % the same file, chosen again, goes on: no stored part is sent twice, and the object is the file', async () => {
  const { file, digest } = makeFile('harbour.wav', bytesOf(5));
  const before = 2;
  const taken = new Set<number | undefined>();
  world.meet(({ part }) => (taken.size < before && taken.add(part) ? 'pass' : 'hold'));
  const tab = await openPage();
  await choose(tab, file);
  await until('two parts', async () => (await keptParts(tab)).length === before);
  await tab.reload();
  await loaded(tab);
  expect(await upload(tab)).toMatchObject({ phase: 'choose_again', name: 'harbour.wav', sent: before * partSize });
  world.meet(() => 'pass');
  await choose(tab, file);
  const { phase, sent: bytes, fileUrl } = await sent(tab);
  expect([phase, bytes]).toEqual(['sent', bytesOf(5)]);
  expect(storedParts()).toEqual([1, 2, 3, 4, 5]);
  expect(await world.digestOf(fileUrl!)).toBe(digest);
});

test('a file that somebody began is not seen, let alone sent, by who signs in at this browser later', async () => {
  const { file } = makeFile('theirs.wav', 3 * partSize);
  world.meet(({ part }) => (part === 1 ? 'pass' : 'hold'));
  const tab = await openPage();
  await choose(tab, file);
  await until('one part', async () => (await keptParts(tab)).length === 1);
  for (const [owner, expected] of [
    ['#other', undefined],
    ['', { name: 'theirs.wav', phase: 'choose_again' }],
  ] as const) {
    await tab.goto(`${world.url}${owner}`);
    await tab.reload();
    await loaded(tab);
    expect(await upload(tab)).toEqual(expected && expect.objectContaining(expected));
  }
});

test('a store that is away comes back: the upload goes on by itself, and what was stored is not sent again', async () => {
  const { file, digest } = makeFile('away.wav', bytesOf(4));
  // Longer than what is refused is tried, and for each part alone: it does not matter which of them comes first.
  const cuts = 12;
  const cut = new Map<number, number>();
  world.meet(({ part }) => {
    const times = cut.get(part ?? 1) ?? 0;
    if (part === undefined || part <= 2 || times === cuts) return 'pass';
    cut.set(part, times + 1);
    return 'cut';
  });
  const tab = await openPage();
  await choose(tab, file);
  const { phase, fileUrl } = await sent(tab);
  expect([phase, [...cut].toSorted()]).toEqual(['sent', [3, 4].map((part) => [part, cuts])]);
  expect(await phases(tab)).toContain('retrying');
  expect(storedParts()).toEqual([1, 2, 3, 4]);
  expect(await world.digestOf(fileUrl!)).toBe(digest);
});

test('an address that is refused is followed by a new one, and an answer that was lost is no second upload', async () => {
  const { file, digest } = makeFile('refused.wav', bytesOf(3));
  const refused = new Set<number | undefined>();
  world.meet(({ method, part }) => {
    if (refused.has(part)) return 'pass';
    refused.add(part);
    return method === 'POST' ? 'lose' : 'refuse';
  });
  const tab = await openPage();
  await choose(tab, file);
  const { phase, fileUrl } = await sent(tab);
  expect(phase).toBe('sent');
  expect(storedParts()).toEqual([1, 2, 3]);
  expect(world.log.filter(({ method }) => method === 'POST').map(({ status }) => status)).toEqual([200, 404]);
  expect(await world.digestOf(fileUrl!)).toBe(digest);
});

test('a grant that has ended is followed by another one, under which everything is sent', async () => {
  const { file, digest } = makeFile('ended.wav', bytesOf(2));
  world.meet(({ part }) => (part === 2 ? 'hold' : 'pass'));
  const tab = await openPage();
  await choose(tab, file);
  await until('one part', async () => (await keptParts(tab)).length === 1);
  const [key] = [...world.granted.keys()].slice(-1);
  world.end(key!);
  await tab.reload();
  await loaded(tab);
  world.meet(() => 'pass');
  await choose(tab, file);
  const { phase, fileUrl } = await sent(tab);
  expect([phase, [...world.granted.keys()].slice(-1)]).toEqual(['sent', [`${key!}.1`]]);
  expect(storedParts()).toEqual([1, 1, 2]);
  expect(await world.digestOf(fileUrl!)).toBe(digest);
});

test('one tab sends a file; another one, which was given it too, waits, and sends nothing of it', async () => {
  const { file } = makeFile('two-tabs.wav', bytesOf(2));
  const context = await browser.newContext();
  const [first, second] = [await openPage(context), await openPage(context)];
  let [isHeld, held] = [true, 0];
  world.meet(() => {
    if (!isHeld) return 'pass';
    held += 1;
    return 'hold';
  });
  await choose(first, file);
  // None of its requests is still on its way when the store takes parts again.
  await until('both parts of the first', async () => held === 2);
  await choose(second, file);
  await until('the second', async () => (await phases(second)).includes('elsewhere'));
  isHeld = false;
  await first.close();
  expect((await sent(second)).phase).toBe('sent');
  expect(storedParts()).toEqual([1, 2]);
});

test('an upload that is stopped leaves nothing behind: neither in the browser nor in the store', async () => {
  const { file } = makeFile('stopped.wav', bytesOf(2));
  world.meet(({ part }) => (part === 2 ? 'hold' : 'pass'));
  const before = await world.countObjects();
  const tab = await openPage();
  await choose(tab, file);
  await until('one part', async () => (await keptParts(tab)).length === 1);
  const key = [...world.granted.keys()].at(-1)!;
  await tab.evaluate(`page.uploads.stop(page.uploads.current()[0].id)`);
  expect([await world.countObjects(), world.hasEnded(key)]).toEqual([before, true]);
  await tab.reload();
  await loaded(tab);
  expect(await tab.evaluate('page.uploads.current()')).toEqual([]);
});

test('a small file is sent with one PUT, and stays in the store when the browser forgets it', async () => {
  const { file, digest } = makeFile('small.wav', 1000);
  const tab = await openPage();
  await choose(tab, file);
  const { id, phase, fileUrl } = await sent(tab);
  expect([phase, world.log.map(({ method, part, status }) => [method, part, status])]).toEqual([
    'sent',
    [
      ['OPTIONS', undefined, 204],
      ['PUT', undefined, 200],
    ],
  ]);
  await tab.evaluate(`page.uploads.remove('${id}')`);
  expect(await tab.evaluate('page.uploads.current()')).toEqual([]);
  expect(await world.digestOf(fileUrl!)).toBe(digest);
});
