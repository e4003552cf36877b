import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { idBytes } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { askAt, newListener } from './_ask.ts';
import { giveAds, publishShow, storeSegment } from './_stitched.ts';
import { audio, openBench, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
beforeAll(async () => {
  bench = await openBench();
  app = await bench.start({ DECIDE_DEADLINE_MS: '1000' });
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

test('a hundred first requests of one listener across midnight, in two processes, give one binding', async () => {
  const ad = audio(1_000);
  await storeSegment(bench, ad);
  giveAds(bench, () => ad);
  const { answer } = bench.serving;
  bench.setClock(new Date('2027-05-04T12:00:00Z'));
  const { enclosure } = await publishShow(bench, audio(3_000));
  await using other = await bench.start({
    CACHE_FOLDER: `${bench.folder}/cache-2`,
    JOURNAL_FOLDER: `${bench.folder}/journal-2`,
    DECIDE_DEADLINE_MS: '1000',
  });
  // Both days are decided before either is bound.
  const { promise: isAsked, resolve: release } = Promise.withResolvers<void>();
  bench.serving.answer = async (request) => {
    if (bench.serving.requests.length === 2) release();
    await isAsked;
    return answer(request);
  };
  const listener = newListener();
  const askTimes = (port: number) =>
    Array.from({ length: 50 }, async () => String((await askAt(() => port)(enclosure, listener)).headers.location));
  bench.setClock(new Date('2027-05-04T23:59:59.999Z'));
  const before = askTimes(app.port);
  await until(() => bench.serving.requests.length === 1);
  bench.setClock(new Date('2027-05-05T00:00:00.000Z'));
  const after = askTimes(other.port);
  expect(new Set(await Promise.all([...before, ...after])).size).toBe(1);
  const decisionIds = bench.serving.requests.map(({ decisionId }) => decisionId);
  expect(decisionIds.map((id) => idBytes(id).readUInt16BE())).toEqual([20_942, 20_943]);
  const { rowCount } = await bench.pool.query('select from binding where decision_id = any($1)', [decisionIds]);
  expect(rowCount).toBe(1);
});
