import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { applySeen } from './_apply.ts';
import { askAt, newListener, type Answer } from './_ask.ts';
import { releaseWith } from './_release.ts';
import { giveAds, publishShow, storeSegment } from './_stitched.ts';
import { audio, eventOf, makeShow, noAds, openBench, type Bench } from './_support.ts';

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

/** Asks for plays of new listeners that the database holds up, 88 more than may be chosen at once; calls `work` when these are refused. */
async function whileFull(enclosure: string, work: () => Promise<void>): Promise<Map<number, Answer[]>> {
  const before = bench.logLines.length;
  const client = await bench.pool.connect();
  await client.query('begin; lock table binding in access exclusive mode');
  const answers = Promise.all(Array.from({ length: 600 }, () => ask(enclosure, newListener())));
  await until(() => bench.logLines.slice(before).filter((line) => line.includes('"status":503')).length === 88);
  try {
    await work();
  } finally {
    await client.query('commit');
    client.release();
  }
  return statusesOf(await answers);
}

test('while 512 plays wait for the database, further listeners are asked to come again, and no error is logged for each', async () => {
  const enclosure = await release(await makeShow(bench.store, audio(100)));
  const before = bench.logLines.length;
  const byStatus = await whileFull(enclosure, async () => undefined);
  expect([byStatus.get(302)?.length, byStatus.get(503)?.length]).toEqual([512, 88]);
  expect(byStatus.get(503)!.every(({ headers }) => headers['retry-after'] === '1')).toBe(true);
  expect(bench.logLines.slice(before).filter((line) => line.includes('request.failed'))).toEqual([]);
  expect((await ask(enclosure, newListener())).status).toBe(302);
});

test('while 512 plays wait for the database, who was given a play lately gets it again, unless an ad of it was halted since', async () => {
  const [ad, haltedAd] = [audio(40), audio(50)];
  for (const each of [ad, haltedAd]) await storeSegment(bench, each);
  const { enclosure } = await publishShow(bench, audio(100));
  const [current, halted] = [newListener(), newListener()];
  giveAds(bench, () => ad);
  const { location } = (await ask(enclosure, current)).headers;
  giveAds(bench, () => haltedAd);
  expect((await ask(enclosure, halted)).status).toBe(302);
  const { rows } = await bench.pool.query<{ creative_id: string }>(
    `select ad->>'creative_id' as creative_id from binding, jsonb_each(ads) as each(place, ad) order by started_at desc limit 1`,
  );
  const scope = { kind: 'creative', creative_id: rows[0]!.creative_id };
  await applySeen(bench, eventOf('serving_halts', newId('hlt'), 1, 'active', { scope, cause: 'A complaint' }));
  await whileFull(enclosure, async () => {
    const again = await ask(enclosure, current);
    expect([again.status, again.headers.location]).toEqual([302, location]);
    expect((await ask(enclosure, halted)).status).toBe(503);
  });
});
