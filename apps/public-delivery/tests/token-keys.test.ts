import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { keyWeek } from '@longwave/delivery-token';
import { sha256, until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { askAt, newListener } from './_ask.ts';
import { releaseWith } from './_release.ts';
import { audio, makeShow, noAds, openBench, pickOf, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
let enclosure: string;
const ask = askAt(() => app.port);
const release = releaseWith(() => bench, ask);
const ad = audio(1250);

const weekMs = 7 * 86_400_000;
/** Half an hour before a week turns. */
const beforeTheTurn = (Math.floor(Date.now() / weekMs) + 3) * weekMs - 1_800_000;
const secretsOf = (text: string) => ({ DELIVERY_TOKEN_SECRETS: text });

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
  enclosure = await release(await makeShow(bench.store, audio(3000)));
  await bench.store.put(`media/${sha256(ad)}`, ad, { contentType: 'audio/mpeg' });
  bench.serving.answer = async (request) => ({ ...noAds(request), picks: [pickOf(ad)], servingPlanId: 'spl' });
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

async function locationOf(listener: Record<string, string>): Promise<string> {
  const answer = await ask(enclosure, listener);
  expect(answer.status).toBe(302);
  return String(answer.headers.location);
}
const statusOf = async (url: string) => (await ask(url, { ...newListener(), range: 'bytes=0-99' })).status;

async function restart(extra: Record<string, string>): Promise<void> {
  await app[Symbol.asyncDispose]();
  app = await bench.start(extra);
}

test('a play keeps its address across the turn of a week, and the next one has keys of the new week', async () => {
  const listener = newListener();
  bench.setClock(new Date(beforeTheTurn));
  const before = await locationOf(listener);
  bench.setClock(new Date(beforeTheTurn + 3_600_000));
  expect(await locationOf(listener)).toBe(before);
  expect(await statusOf(before)).toBe(206);
  const kid = (url: string) => Buffer.from(/\/t1\.([^/]+)/.exec(url)![1]!, 'base64url')[0];
  expect(kid(before)).toBe(keyWeek(beforeTheTurn / 1000) & 255);
  expect(kid(await locationOf(newListener()))).toBe((keyWeek(beforeTheTurn / 1000) + 1) & 255);
});

test('an address plays for 180 days, and its keys are gone after that', async () => {
  bench.setClock(new Date(beforeTheTurn));
  const location = await locationOf(newListener());
  bench.setClock(new Date(beforeTheTurn + 179 * 86_400_000));
  expect(await statusOf(location)).toBe(206);
  bench.setClock(new Date(beforeTheTurn + 188 * 86_400_000));
  expect(await statusOf(location)).toBe(404);
});

test('a secret is replaced without breaking addresses in use, and enclosures never change', async () => {
  bench.setClock(new Date(beforeTheTurn));
  const old = String(bench.environment['DELIVERY_TOKEN_SECRETS']);
  const fresh = randomBytes(32).toString('hex');
  const before = await locationOf(newListener());
  await restart(secretsOf(`${fresh},${old}`));
  expect(await statusOf(before)).toBe(206);
  const after = await locationOf(newListener());
  await restart(secretsOf(fresh));
  expect(await statusOf(before)).toBe(404);
  expect(await statusOf(after)).toBe(206);
  expect((await ask(enclosure, newListener())).status).toBe(302);
  await restart({});
});

test('a revoked week stops opening within 5 s, and its plays get other addresses', async () => {
  bench.setClock(new Date(beforeTheTurn));
  const listener = newListener();
  const before = await locationOf(listener);
  const week = keyWeek(beforeTheTurn / 1000);
  const revokedAtMs = performance.now();
  await bench.pool.query('insert into revoked_week (week, epoch) values ($1, 1)', [week]);
  await until(async () => (await statusOf(before)) === 404);
  expect(performance.now() - revokedAtMs).toBeLessThan(5_000);
  const after = await locationOf(listener);
  expect(after).not.toBe(before);
  expect(await statusOf(after)).toBe(206);
  bench.setClock(new Date(beforeTheTurn + 3_600_000));
  const other = await locationOf(newListener());
  await bench.pool.query('update revoked_week set epoch = epoch + 1');
  await until(async () => (await statusOf(after)) === 404);
  expect(await statusOf(other)).toBe(206);
});
