import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { sha256, until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { next } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { releaseWith } from './_release.ts';
import { serveOnce, tokensOf, type Served } from './_serving.ts';
import { audio, eventOf, makeShow, noAds, openBench, publishEvents, type Bench, type Show } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
let show: Show;
let enclosure: string;
const ask = askAt(() => app.port);
const release = releaseWith(() => bench, ask);
const ad = audio(1250);
const dayMs = 86_400_000;

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
  // 72 s.
  show = await makeShow(bench.store, audio(3000));
  enclosure = await release(show);
  await bench.store.put(`media/${sha256(ad)}`, ad, { contentType: 'audio/mpeg' });
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});
beforeEach(() => bench.setClock(undefined));

const policy = (kind: string, rules: Record<string, unknown>, scope: Record<string, unknown> = { kind: 'workspace' }) =>
  eventOf('policies', newId('pol'), 3, 'active', { name: kind, kind, scope, rules });

/** The limit of advertising, in milliseconds, that the play of a new listener is decided under; 0 for none. */
async function limitOfPlay(): Promise<number> {
  let limitMs: bigint | undefined;
  bench.serving.answer = async (request) => {
    limitMs = request.adLoadLimitMs;
    return noAds(request);
  };
  expect((await ask(enclosure, newListener())).status).toBe(302);
  return Number(limitMs);
}
const untilLimit = (limitMs: number) => until(async () => (await limitOfPlay()) === limitMs);

test('bounds of what a play adds are obeyed from their activation, the tightest of them, until the policy ends', async () => {
  expect(await limitOfPlay()).toBe(0);
  const wide = policy('delivery_bounds', { max_added_ms: 60_000 });
  await publishEvents(bench.bus, [wide]);
  await untilLimit(60_000);
  const elsewhere = policy(
    'delivery_bounds',
    { max_added_ms: 1_000 },
    { kind: 'podcasts', podcast_ids: [newId('pod')] },
  );
  const here = policy('delivery_bounds', { max_added_pct: 25 }, { kind: 'podcasts', podcast_ids: [show.podcastId] });
  await publishEvents(bench.bus, [elsewhere, here]);
  await untilLimit(18_000);
  await publishEvents(bench.bus, [next(here, {}, { state: 'superseded' })]);
  await untilLimit(60_000);
  // An older version of an event that comes again changes nothing.
  await publishEvents(bench.bus, [here, next(wide, {}, { state: 'retired' })]);
  await untilLimit(0);
});

test('an answer with more ads than the bounds allow is not played', async () => {
  const bounds = policy('delivery_bounds', { max_added_ms: 20_000 });
  await publishEvents(bench.bus, [bounds]);
  await untilLimit(20_000);
  await expect(serveOnce(bench, ask, enclosure, ad)).rejects.toThrow();
  await publishEvents(bench.bus, [next(bounds, {}, { state: 'retired' })]);
  await untilLimit(0);
  expect((await serveOnce(bench, ask, enclosure, ad)).servingId).toMatch(/^srv_/);
});

test('addresses for reports are on time as long as the token policy in force says', async () => {
  const eventToken = async ({ location, listener }: Served) => {
    const { body } = await ask(location.replace(/[^/]+\.mp3$/, 'timeline.json'), listener);
    const { parts } = JSON.parse(body.toString()) as { parts: { slots?: { event_url: string }[] }[] };
    return parts
      .find(({ slots }) => slots)!
      .slots![0]!.event_url.split('/')
      .at(-1)!;
  };
  const served = await serveOnce(bench, ask, enclosure, ad);
  const isLateAfter = (token: string, days: number) =>
    tokensOf(bench).open('evt', token, new Date(served.startedAt.getTime() + days * dayMs + 1_000))?.late;
  const usual = await eventToken(served);
  expect([isLateAfter(usual, 29), isLateAfter(usual, 30)]).toEqual([false, true]);

  const short = policy('token', { report_token_days: 2 });
  await publishEvents(bench.bus, [short]);
  const shortened = await until(async () => {
    const token = await eventToken(served);
    return token !== usual && token;
  });
  expect([isLateAfter(shortened, 1), isLateAfter(shortened, 2)]).toEqual([false, true]);
  expect(isLateAfter(usual, 29)).toBe(false);

  await publishEvents(bench.bus, [next(short, {}, { state: 'superseded' })]);
  await until(async () => (await eventToken(served)) === usual);
});
