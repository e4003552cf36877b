import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { askAt, newListener, type Answer } from './_ask.ts';
import { releaseWith } from './_release.ts';
import { audio, makeShow, noAds, openBench, type Bench } from './_support.ts';

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
afterEach(() => {
  bench.serving.answer = async (request) => noAds(request);
});

const statusesOf = (answers: readonly Answer[]) => Map.groupBy(answers, ({ status }) => status);

test('while 128 plays wait for their ads, further listeners get the file without ads at once, and keep it', async () => {
  const enclosure = await release(await makeShow(bench.store, audio(100)));
  const decided = Promise.withResolvers<void>();
  const asked = bench.serving.requests.length;
  bench.serving.answer = async (request) => {
    await decided.promise;
    return noAds(request);
  };
  const waiting = Promise.all(Array.from({ length: 128 }, () => ask(enclosure, newListener())));
  await until(() => bench.serving.requests.length === asked + 128);
  const late = newListener();
  const first = await ask(enclosure, late);
  expect(first.status).toBe(302);
  expect(bench.serving.requests.length).toBe(asked + 128);
  decided.resolve();
  expect([...statusesOf(await waiting).keys()]).toEqual([302]);
  expect((await ask(enclosure, late)).headers.location).toBe(first.headers.location);
});

test('while 512 plays wait for the database, further listeners are asked to come again, and no error is logged for each', async () => {
  const enclosure = await release(await makeShow(bench.store, audio(100)));
  const before = bench.logLines.length;
  const client = await bench.pool.connect();
  await client.query('begin; lock table binding in access exclusive mode');
  const answers = Promise.all(Array.from({ length: 600 }, () => ask(enclosure, newListener())));
  await until(() => bench.logLines.slice(before).filter((line) => line.includes('"status":503')).length === 88);
  await client.query('commit');
  client.release();
  const byStatus = statusesOf(await answers);
  expect([byStatus.get(302)?.length, byStatus.get(503)?.length]).toEqual([512, 88]);
  expect(byStatus.get(503)!.every(({ headers }) => headers['retry-after'] === '1')).toBe(true);
  expect(bench.logLines.slice(before).filter((line) => line.includes('request.failed'))).toEqual([]);
  expect((await ask(enclosure, newListener())).status).toBe(302);
});
