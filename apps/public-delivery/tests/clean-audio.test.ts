import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { sha256, until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { next } from './_apply.ts';
import { askAt, bodyButTrace, newListener, type Answer } from './_ask.ts';
import { applyNow, hosted, master, type Hosted } from './_hosted.ts';
import { publishShow } from './_stitched.ts';
import { audio, noAds, openBench, playedFacts, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);

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
  bench.setClock(undefined);
});

/** An address of before episodes were named. */
const byDigest = ({ content }: { readonly content: Buffer }) => `/delivery/v1/a/${sha256(content)}/x.mp3`;
const named = (show: { readonly content: Buffer; readonly episodeId: string }) =>
  `${byDigest(show)}?e=${show.episodeId}`;
/** Where a clean address of a platform leads. */
const cleanOf = async ({ path }: Hosted) => String((await ask(path, newListener())).headers.location);
const asked = (path: string) => ask(path, newListener());
const countedFor = async ({ headers }: Answer) =>
  (await until(() => playedFacts(bench.facts).find((each) => each.request_id === headers['x-request-id']))).episode_id;

/** The same bytes under another authority, which says that they are older. */
const copyOf = ({ content }: Hosted, rights: Record<string, unknown>) =>
  hosted(bench, { route: 'clean' }, { content, rights, episode: { published_at: '1970-01-02T00:00:00.000Z' } });

describe('the clean address of an episode', () => {
  test('stays its own: another platform with the same bytes and an earlier date neither leads listeners away nor takes the counts', async () => {
    const show = await hosted(bench, { route: 'clean' }, { content: audio(61) });
    const address = await cleanOf(show);
    expect(address).toContain(`?e=${show.episodeId}`);
    for (const rights of [{ territories: ['AQ'] }, {}]) {
      const copy = await copyOf(show, rights);
      for (const path of [address, await cleanOf(show)]) {
        const answer = await asked(path);
        expect([answer.status, answer.body.equals(show.content)]).toEqual([200, true]);
        expect(await countedFor(answer)).toBe(show.episodeId);
      }
      const theirs = await asked(named(copy));
      if (rights.territories) expect(theirs.headers.location).toBe(master);
      else expect(await countedFor(theirs)).toBe(copy.episodeId);
    }
  });

  test('ends with its episode, whatever else has the same bytes', async () => {
    const show = await hosted(bench, { route: 'clean' }, { content: audio(62) });
    const copy = await copyOf(show, {});
    const own = await publishShow(bench, show.content);
    await applyNow(bench, next(show.events.episode, {}, { state: 'unpublished' }));
    expect((await asked(named(show))).status).toBe(404);
    for (const other of [copy, own]) expect((await asked(named(other))).status).toBe(200);
    await applyNow(bench, next(show.events.episode, {}, { state: 'archived', by: 2 }));
    expect((await asked(named(show))).status).toBe(410);
  });

  test('is that of audio which the episode has: any other is unknown', async () => {
    const show = await publishShow(bench, audio(63));
    const other = await publishShow(bench, audio(64));
    const unknown = bodyButTrace(await asked('/delivery/v1/x/nobody/nothing.mp3'));
    const digest = byDigest(show);
    for (const path of [
      `${digest}?e=${other.episodeId}`,
      `${digest}?e=${newId('ep')}`,
      `${digest}?e=${show.podcastId}`,
      `${digest}?e=`,
      `${digest}?e=${show.episodeId}&e=${show.episodeId}`,
    ]) {
      const answer = await asked(path);
      expect([answer.status, bodyButTrace(answer)]).toEqual([404, unknown]);
    }
    const answer = await asked(named(show));
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
  });
});

describe('an address that names a digest alone', () => {
  test('leads to no file of a platform: outside of the rights, and after them, there is nothing', async () => {
    const until = Date.now() + 3_600_000;
    const limited = await hosted(bench, {}, { content: audio(65), rights: { until: new Date(until).toISOString() } });
    const elsewhere = await hosted(bench, {}, { content: audio(66), rights: { territories: ['FR'] } });
    const whole = await asked(byDigest(limited));
    expect([whole.status, whole.headers['cache-control']]).toEqual([200, 'private, max-age=86400']);
    bench.setClock(new Date(until));
    for (const show of [limited, elsewhere]) {
      expect((await asked(byDigest(show))).status).toBe(404);
      expect((await asked(named(show))).headers.location).toBe(master);
    }
  });

  test('is that of an own episode before a hosted one, then of the one that was published here first', async () => {
    const show = await hosted(bench, {}, { content: audio(67) });
    await copyOf(show, { territories: ['AQ'] });
    expect(await countedFor(await asked(byDigest(show)))).toBe(show.episodeId);
    const own = await publishShow(bench, show.content);
    expect(await countedFor(await asked(byDigest(show)))).toBe(own.episodeId);
    await applyNow(bench, next(own.events.episode, {}, { state: 'unpublished' }));
    expect(await countedFor(await asked(byDigest(show)))).toBe(show.episodeId);
  });
});
