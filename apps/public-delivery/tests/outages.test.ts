import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { freePorts } from '@longwave/fleet';
import type { DeliveryApp } from '../src/app.ts';
import { askAt, newListener } from './_ask.ts';
import { releaseWith } from './_release.ts';
import {
  audio,
  eventually,
  frameBytes,
  makeShow,
  noAds,
  openBench,
  playedFacts,
  publishEvents,
  sha256,
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
    await eventually(async () => (await ask(path, newListener(), 'HEAD')).status === 200);
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
    await eventually(async () => !(await readdir(`${bench.environment['CACHE_FOLDER']}/segments`)).some(isOfIt));
  });
});

test('a bus that is gone keeps neither a new process nor a listener waiting', async () => {
  const show = await makeShow(bench.store, audio(100));
  const enclosure = await release(show);
  const [port] = await freePorts(1);
  const folders = { CACHE_FOLDER: `${bench.folder}/cache-3`, JOURNAL_FOLDER: `${bench.folder}/journal-3` };
  const alone = await bench.start({ ...folders, REDIS_URL: `redis://127.0.0.1:${port}` });
  try {
    const answer = await fetch(`${enclosure.replace('http://media.test', `http://127.0.0.1:${alone.port}`)}?direct=1`);
    expect([answer.status, (await answer.bytes()).length > show.content.length]).toEqual([200, true]);
    expect(await alone.readiness['postgres']!()).toBe(true);
  } finally {
    await alone[Symbol.asyncDispose]();
  }
  const again = await bench.start(folders);
  await eventually(() =>
    playedFacts(bench.facts).some((fact) => fact.episode_id === show.episodeId && fact.status === 200),
  );
  await again[Symbol.asyncDispose]();
});
