import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { sha256, until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { askAt, bodyButTrace } from './_ask.ts';
import { releaseWith } from './_release.ts';
import { serveOnce, tokensOf, type Served } from './_serving.ts';
import { audio, eventFacts, makeShow, openBench, playedFacts, readJournal, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
let enclosure: string;
const ask = askAt(() => app.port);
const release = releaseWith(() => bench, ask);
const ad = audio(1250);
const shop = 'https://shop.example/größe?ref=podcast';

const at = (token: string) => `/delivery/v1/k/${token}`;
const mint = (of: Served, purpose: 'evt' | 'clk' = 'clk', tokens = tokensOf(bench)) =>
  tokens.mint(purpose, of, of.startedAt);
const clicksOn = (of: Served) => eventFacts(bench.facts).filter((fact) => fact.serving_id === of.servingId);
/** The facts of a play until now: waits for one more report of it. */
async function seenBeforeStart(of: Served): Promise<string[]> {
  expect((await ask(`/delivery/v1/ev/${mint(of, 'evt')}?e=start`, of.listener)).status).toBe(204);
  const events = () => clicksOn(of).map(({ event }) => event);
  await until(() => events().includes('start'));
  return events().slice(0, events().indexOf('start'));
}

interface Slot {
  readonly event_url?: string;
  readonly click_url?: string;
}
async function slotOf({ location, listener }: Served): Promise<Slot> {
  const { body } = await ask(location.replace(/[^/]+\.mp3$/, 'timeline.json'), listener);
  const { parts } = JSON.parse(body.toString()) as { parts: { kind: string; slots: Slot[] }[] };
  return parts.find(({ kind }) => kind === 'break')!.slots[0]!;
}

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
  enclosure = await release(await makeShow(bench.store, audio(3000)));
  await bench.store.put(`media/${sha256(ad)}`, ad, { contentType: 'audio/mpeg' });
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});
beforeEach(() => bench.setClock(undefined));

test('a player finds both addresses in the timeline, always the same, and a click leads to the approved address', async () => {
  const served = await serveOnce(bench, ask, enclosure, ad, shop);
  const slot = await slotOf(served);
  expect(slot).toEqual(await slotOf(served));
  expect((await ask(`${slot.event_url!}?e=start`, served.listener)).status).toBe(204);
  const click = await ask(`${slot.click_url!}?url=https://evil.example`, served.listener);
  expect([click.status, click.headers.location, click.headers['cache-control'], click.body.length]).toEqual([
    302,
    'https://shop.example/gr%C3%B6%C3%9Fe?ref=podcast',
    'no-store',
    0,
  ]);
  const again = await ask(slot.click_url!, served.listener);
  expect([again.status, again.headers.location]).toEqual([302, click.headers.location]);
  await until(() => clicksOn(served).length === 3);
  expect(clicksOn(served).map(({ event, sequence, late }) => [event, sequence, late])).toEqual([
    ['start', 0, false],
    ['click', 0, false],
    ['click', 0, false],
  ]);
  expect(new Set(clicksOn(served).map(({ fact_id }) => fact_id)).size).toBe(2);
});

test('the target of a click is in no fact, neither in the journal nor published', async () => {
  const served = await serveOnce(bench, ask, enclosure, ad, shop);
  await ask(served.location, served.listener);
  await ask((await slotOf(served)).click_url!, served.listener);
  const journal = await readJournal(bench.folder);
  await until(() => clicksOn(served).length === 1);
  const parts = playedFacts(bench.facts).flatMap((fact) => fact.parts);
  expect(parts.some((part) => part.ad?.serving_id === served.servingId)).toBe(true);
  expect(journal).toContain(served.servingId);
  expect(journal + JSON.stringify(bench.facts)).not.toContain('shop.example');
});

test('an ad without an approved address has none in the timeline, and its click is a 404 like any other', async () => {
  const served = await serveOnce(bench, ask, enclosure, ad);
  expect(Object.keys(await slotOf(served))).not.toContain('click_url');
  const withClick = await serveOnce(bench, ask, enclosure, ad, shop);
  const nothing = await ask('/delivery/v1/nothing');
  for (const bad of [
    mint(served),
    mint(withClick, 'evt'),
    mint(withClick, 'clk', tokensOf(bench, { host: 'other.test' })),
    mint({ ...withClick, servingId: newId('srv') }),
    mint(withClick).slice(0, -1),
    `svc_pat_${'a'.repeat(40)}`,
  ]) {
    const answer = await ask(at(bad), withClick.listener);
    expect([answer.status, bodyButTrace(answer)]).toEqual([404, bodyButTrace(nothing)]);
  }
  expect((await ask(at(mint(withClick)), withClick.listener, 'POST')).status).toBe(405);
  expect(await seenBeforeStart(withClick)).toEqual([]);
});

test('a late click still leads there, marked, until its key is gone', async () => {
  const served = await serveOnce(bench, ask, enclosure, ad, shop);
  const token = mint(served);
  bench.setClock(new Date(served.startedAt.getTime() + 60 * 86_400_000));
  expect((await ask(at(token), served.listener)).status).toBe(302);
  expect((await until(() => clicksOn(served)[0])).late).toBe(true);
  bench.setClock(new Date(served.startedAt.getTime() + 188 * 86_400_000));
  expect((await ask(at(token), served.listener)).status).toBe(404);
});

test('HEAD and a prefetch are redirected and count as no click', async () => {
  const served = await serveOnce(bench, ask, enclosure, ad, shop);
  const token = mint(served);
  expect((await ask(at(token), served.listener, 'HEAD')).status).toBe(302);
  expect((await ask(at(token), { ...served.listener, purpose: 'prefetch' })).status).toBe(302);
  expect(await seenBeforeStart(served)).toEqual([]);
});
