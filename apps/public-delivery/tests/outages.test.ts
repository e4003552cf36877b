import { readdir } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { freePorts } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { sha256, startFaultProxy, until, type FaultProxy } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { askAt, newListener, type Answer } from './_ask.ts';
import { releaseWith } from './_release.ts';
import { giveAds, publishShow, storeSegment } from './_stitched.ts';
import {
  audio,
  frameBytes,
  makeShow,
  noAds,
  openBench,
  playedFacts,
  publishEvents,
  showOf,
  type Bench,
} from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);
const release = releaseWith(() => bench, ask);

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});
beforeEach(() => {
  bench.serving.answer = async (request) => noAds(request);
});

describe('audio that is not what its digest says', () => {
  /** The clean audio of an episode whose object has one wrong byte, the last one. */
  async function corrupt(sizeBytes: number): Promise<string> {
    const bytes = Buffer.alloc(sizeBytes, sizeBytes % 251);
    const digest = sha256(bytes);
    bytes[sizeBytes - 1]! ^= 1;
    await bench.store.put(`media/${digest}`, bytes, { contentType: 'audio/mpeg' });
    await publishEvents(bench.bus, Object.values(showOf({ digest, sizeBytes }).events));
    const path = `/delivery/v1/a/${digest}/x.mp3`;
    await until(async () => (await ask(path, newListener(), 'HEAD')).status === 200);
    return path;
  }

  test('is not available', async () => {
    const answer = await ask(await corrupt(1000 * frameBytes), newListener());
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
  });

  test('is broken off before its end when it is too large to wait for', async () => {
    const path = await corrupt(100_000 * frameBytes);
    await expect(ask(path, newListener())).rejects.toThrow('aborted');
    const isOfIt = (name: string) => path.includes(name.slice(0, 64));
    await until(async () => !(await readdir(`${bench.environment['CACHE_FOLDER']}/segments`)).some(isOfIt));
  });
});

test('without the bus neither a new process nor a listener waits', async () => {
  const show = await makeShow(bench.store, audio(100));
  const enclosure = await release(show);
  const [port] = await freePorts(1);
  const folders = { CACHE_FOLDER: `${bench.folder}/cache-3`, JOURNAL_FOLDER: `${bench.folder}/journal-3` };
  const alone = await bench.start({ ...folders, REDIS_URL: `redis://127.0.0.1:${port}` });
  try {
    const answer = await fetch(`${enclosure.replace('http://media.test', `http://127.0.0.1:${alone.port}`)}?direct=1`);
    expect([answer.status, (await answer.bytes()).length > show.content.length]).toEqual([200, true]);
  } finally {
    await alone[Symbol.asyncDispose]();
  }
  const again = await bench.start(folders);
  await until(() => playedFacts(bench.facts).some((fact) => fact.episode_id === show.episodeId && fact.status === 200));
  await again[Symbol.asyncDispose]();
});

describe.each(['refused', 'black-hole'] as const)('while PostgreSQL is away (%s)', (how) => {
  let proxy: FaultProxy;
  let alone: DeliveryApp;
  let show: Awaited<ReturnType<typeof publishShow>>;
  let slowestMs = 0;
  const askAlone: ReturnType<typeof askAt> = async (...asked) => {
    const startedMs = performance.now();
    return await askAt(() => alone.port)(...asked).finally(() => {
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    });
  };
  const [ad, content] = [audio(1_000), audio(3_000)];
  const [bound, stranger] = [newListener(), newListener()];

  beforeAll(async () => {
    const database = new URL(bench.environment['DATABASE_URL']!);
    proxy = await startFaultProxy();
    proxy.aimAt({ host: database.hostname, port: Number(database.port) });
    Object.assign(database, { hostname: '127.0.0.1', port: String(proxy.port) });
    // As an address in production, which names no time for a connection.
    database.search = '';
    alone = await bench.start({
      DATABASE_URL: database.href,
      ...{ CACHE_FOLDER: `${bench.folder}/cache-${how}`, JOURNAL_FOLDER: `${bench.folder}/journal-${how}` },
    });
    await storeSegment(bench, ad);
  });
  afterAll(async () => {
    bench.setClock(undefined);
    // First what holds its silent connections open, which the app would wait for.
    await proxy[Symbol.asyncDispose]();
    await alone[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    giveAds(bench, () => ad);
    show = await publishShow(bench, content, { chapters: [{ start_ms: 0, title: 'Ebb' }] });
  });
  afterEach(async () => {
    bench.setClock(undefined);
    await proxy.heal();
  });

  /** The answer without the database: try again soon, and no reason. */
  const comeAgain = { status: 503, 'retry-after': '1', 'content-type': 'application/problem+json' };
  const told = ({ status, headers }: Answer) => ({
    status,
    'retry-after': headers['retry-after'],
    'content-type': headers['content-type'],
  });

  test('listeners go on, by the address of the play, the enclosure and the feed', async () => {
    const feedPath = `/feeds/${show.subdomain}.xml`;
    const feed = await askAlone(feedPath);
    const location = String((await askAlone(show.enclosure, bound)).headers.location);
    const whole = await askAlone(location, bound);
    const before = playedFacts(bench.facts).length;
    await proxy.cut(how);
    slowestMs = 0;
    // Older than the second for which answers are remembered.
    bench.setClock(new Date(Date.now() + 10_000));
    const parts = await Promise.all(
      ['bytes=0-99999', 'bytes=100000-'].map((range) => askAlone(location, { ...bound, range })),
    );
    expect(parts.map(({ status }) => status)).toEqual([206, 206]);
    expect(Buffer.concat(parts.map(({ body }) => body)).equals(whole.body)).toBe(true);
    const again = await askAlone(show.enclosure, bound);
    expect([again.status, again.headers.location]).toEqual([302, location]);
    expect((await askAlone(`${show.enclosure}?direct=1`, bound)).body.equals(whole.body)).toBe(true);
    const sameFeed = await askAlone(feedPath);
    expect([sameFeed.status, sameFeed.body.equals(feed.body)]).toEqual([200, true]);
    expect((await askAlone(feedPath, { 'if-none-match': feed.headers.etag! })).status).toBe(304);
    // Players do not wait for longer.
    expect(slowestMs).toBeLessThan(10_000);
    // Bytes of the outage are counted, with their ads.
    const facts = await until(() => {
      const of = playedFacts(bench.facts).slice(before);
      return of.filter(({ status }) => status === 206).length >= 2 && of;
    });
    expect(facts.every(({ parts: placed }) => placed.some((part) => part.ad !== undefined))).toBe(true);
  });

  test('a request that needs the database is 503 with Retry-After, never 500, and is answered when it is back', async () => {
    const location = String((await ask(show.enclosure, bound)).headers.location);
    const token = location.split('/').at(-2)!;
    await proxy.cut(how);
    bench.setClock(new Date(Date.now() + 20_000));
    const addresses = [
      show.enclosure,
      location,
      location.replace(/[^/]+\.mp3$/, 'chapters.json'),
      show.enclosure.replace(/[^/]+\.mp3$/, 'chapters.json'),
      `/feeds/${show.subdomain}.xml`,
      `/delivery/v1/a/${sha256(content)}/x.mp3`,
      `/delivery/v1/c/${'0'.repeat(64)}.json`,
      `/delivery/v1/f/${newId('upl')}/x.png`,
    ];
    const answers = await Promise.all(addresses.map(async (address) => told(await askAlone(address, stranger))));
    expect(answers).toEqual(addresses.map(() => comeAgain));
    // An address that is wrong by its form is 404 without the database.
    expect((await askAlone(location.replace(token, `t1.${'A'.repeat(100)}`))).status).toBe(404);
    await proxy.heal();
    await until(async () => (await askAlone(show.enclosure, stranger)).status === 302);
    expect((await askAlone(location, stranger)).status).toBe(200);
  });
});
