import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DomainEvent } from '@longwave/events';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { apply, applySeen, next } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { giveAds, publishShow, storeSegment, type Marker } from './_stitched.ts';
import { audio, eventOf, frameBytes, noAds, openBench, playedFacts, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);

/** Of different sizes, so that a wrong one shows. */
const ads = [40, 55, 70, 85].map(audio);

beforeAll(async () => {
  bench = await openBench();
  // A machine that is busy must not make a decision late.
  app = await bench.start();
  for (const ad of ads) await storeSegment(bench, ad);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});
beforeEach(() => {
  bench.serving.answer = async (request) => noAds(request);
  bench.serving.requests.length = 0;
  bench.setClock(undefined);
});

const marker = (key: string, kind: Marker['kind'], frame: number, max_slots: number): Marker => ({
  ...{ key, kind, position_ms: frame * 24, max_slots },
});
const resolve = async (enclosure: string, headers: Record<string, string>, method = 'GET') => {
  const answer = await ask(enclosure, headers, method);
  expect(answer.status).toBe(302);
  return String(answer.headers.location);
};

const contentFrames = 600;

let aheadMs = 0;
/** As `applySeen`, where nothing depends on when it happened: the second is not waited for, the app's clock goes on by it. */
async function applyAtOnce(event: DomainEvent): Promise<void> {
  await apply(bench, event);
  bench.setAhead((aheadMs += 1_000));
}

let halts = 0;
/** Halts something; answers how to release it. */
async function halt(scope: Record<string, unknown>): Promise<() => Promise<void>> {
  const event = eventOf('serving_halts', `hlt_${++halts}`, 1, 'active', { scope, cause: 'A complaint' });
  await applyAtOnce(event);
  return () => applyAtOnce(next(event, {}, { state: 'released' }));
}

test.each(['creative', 'line_item'] as const)(
  'a halted %s is not handed out any more, the other ads stay, and a download that goes on begins anew',
  async (kind) => {
    giveAds(bench, (key, slot) => (key === 'pre' ? ads[3] : ads[slot]));
    const content = audio(contentFrames);
    const { enclosure, episodeId } = await publishShow(bench, content, { markers: [marker('m1', 'mid', 200, 2)] });
    const listener = newListener();
    const before = await resolve(enclosure, listener);
    const old = await ask(before, listener);
    const bindings = async () =>
      (
        await bench.pool.query<{ sequence: number; ads: Record<string, Record<string, unknown>>; started_at: Date }>(
          'select sequence, ads, started_at from binding where episode_id = $1 order by sequence',
          [episodeId],
        )
      ).rows;
    const [first] = await bindings();
    const gone = first!.ads['m1/0']!;
    const release = await halt({ kind, [`${kind}_id`]: gone[`${kind}_id`] });
    // Concurrent requests and dry runs get the same new file.
    const places = await Promise.all([
      ...Array.from({ length: 8 }, () => resolve(enclosure, listener)),
      resolve(enclosure, listener, 'HEAD'),
    ]);
    expect(new Set(places).size).toBe(1);
    const after = await ask(places[0], { ...listener, range: 'bytes=1000-', 'if-range': old.headers.etag! });
    expect([after.status, after.headers.etag === old.headers.etag]).toEqual([200, false]);
    expect(after.body.subarray(-content.length - ads[3]!.length - ads[1]!.length)).toEqual(
      Buffer.concat([ads[3]!, content.subarray(0, 200 * frameBytes), ads[1]!, content.subarray(200 * frameBytes)]),
    );
    const rows = await bindings();
    expect(rows.map(({ sequence }) => sequence)).toEqual([0, 1]);
    const { 'm1/0': _, ...left } = first!.ads;
    expect(rows[1]).toMatchObject({ ads: left, started_at: first!.started_at });
    expect(Object.keys(rows[1]!.ads)).toEqual(Object.keys(left));
    // Addresses that were handed out keep their bytes.
    expect((await ask(before, listener)).body.equals(old.body)).toBe(true);
    // Ads that were given stay counted under their servings.
    const fact = await until(() =>
      playedFacts(bench.facts).find((each) => each.request_id === after.headers['x-request-id']),
    );
    expect(fact.parts.flatMap(({ ad }) => (ad ? [ad.serving_id] : [])).toSorted()).toEqual(
      Object.values(left)
        .map((ad) => ad['serving_id'])
        .toSorted(),
    );
    await release();
    expect(await resolve(enclosure, listener)).toBe(places[0]);
    expect(bench.serving.requests).toHaveLength(1);
  },
);

test.each(['workspace', 'show', 'surface'] as const)(
  'a halted %s has no ads, neither bound nor new; who got its clean files keeps them when the halt is released',
  async (kind) => {
    giveAds(bench, (_key, slot) => ads[slot]);
    const content = audio(contentFrames);
    const { enclosure, podcastId } = await publishShow(bench, content, { markers: [marker('m1', 'mid', 200, 2)] });
    const [bound, other] = [newListener(), newListener()];
    await resolve(enclosure, bound);
    const release = await halt({
      kind,
      ...(kind === 'show' && { podcast_id: podcastId }),
      ...(kind === 'surface' && { surface: 'progressive' }),
    });
    for (const listener of [bound, other]) {
      const clean = await ask(await resolve(enclosure, listener), listener);
      expect(clean.body.subarray(-content.length).equals(content)).toBe(true);
      expect(clean.body.length).toBeLessThan(content.length + 4096);
    }
    expect(bench.serving.requests).toHaveLength(1);
    await release();
    const [kept, fresh] = [other, newListener()];
    expect((await ask(await resolve(enclosure, kept), kept)).body.length).toBeLessThan(content.length + 4096);
    expect((await ask(await resolve(enclosure, fresh), fresh)).body.length).toBeGreaterThan(content.length + 4096);
  },
);

test('a halt of another show, creative, line item or surface changes nothing', async () => {
  giveAds(bench, (_key, slot) => ads[slot]);
  const { enclosure } = await publishShow(bench, audio(10), {});
  const listener = newListener();
  const location = await resolve(enclosure, listener);
  await halt({ kind: 'show', podcast_id: 'pod_other' });
  await halt({ kind: 'creative', creative_id: 'crv_other' });
  await halt({ kind: 'line_item', line_item_id: 'li_other' });
  await halt({ kind: 'surface', surface: 'hls' });
  expect(await resolve(enclosure, listener)).toBe(location);
});

test('a decision with a halted ad is bound without that ad', async () => {
  giveAds(bench, (_key, slot) => ads[slot]);
  const answer = bench.serving.answer;
  const creativeId = 'crv_halted';
  bench.serving.answer = async (request) => {
    const decided = await answer(request);
    return { ...decided, picks: decided.picks.map((pick, i) => (i === 0 ? { ...pick, creativeId } : pick)) };
  };
  await halt({ kind: 'creative', creative_id: creativeId });
  const content = audio(contentFrames);
  const { enclosure } = await publishShow(bench, content, { markers: [marker('m1', 'mid', 200, 1)] });
  const listener = newListener();
  const { body } = await ask(await resolve(enclosure, listener), listener);
  expect(body.subarray(-content.length - ads[0]!.length)).toEqual(
    Buffer.concat([content.subarray(0, 200 * frameBytes), ads[0]!, content.subarray(200 * frameBytes)]),
  );
});

/** A download that stands still after its first bytes, until `finish` takes the rest and answers whether all of it came. */
async function openTransfer(place: string, headers: Record<string, string>) {
  const path = place.replace('http://media.test', '');
  const request = httpRequest({ host: '127.0.0.1', port: app.port, path, headers });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.on('error', () => undefined);
  const closed = new Promise((done) => response.once('close', done));
  response.on('error', () => undefined);
  return {
    requestId: String(response.headers['x-request-id']),
    finish: async () => {
      response.resume();
      await closed;
      return response.complete ? 'whole' : 'broken';
    },
  };
}

/** The event by which an episode plays another file from now on; with `mode` "stop_all" for those who listen already, too. */
async function replaceAudio({ events }: Awaited<ReturnType<typeof publishShow>>, content: Buffer, mode: string) {
  const { sha256, size_bytes, duration_ms } = await storeSegment(bench, content);
  const id = newId('pro');
  const files = [{ role: 'rendition', stream_format: 'mp3/128000/48000/2', sha256, size_bytes, duration_ms }];
  const made = { ...events.production.after.attributes, files, audio_duration_ms: duration_ms };
  await apply(bench, eventOf('productions', id, 1, 'encoded', made));
  const ends = mode === 'stop_all' ? { plays_end_before: new Date().toISOString() } : {};
  return next(events.episode, { current_production_id: id, ...ends });
}

describe.each(['stop_new', 'stop_all'] as const)('with mode %s', (mode) => {
  beforeAll(() => bench.setAhead(0));
  const endsAll = mode === 'stop_all';

  test(`audio that was replaced ${endsAll ? 'is 410 for its listeners, and their enclosure gives the new file' : 'goes on for its listeners, who keep their file'}; nothing stored changes`, async () => {
    giveAds(bench, (_key, slot) => ads[slot]);
    const [wrong, right] = [audio(contentFrames), audio(contentFrames + 10)];
    const show = await publishShow(bench, wrong, { markers: [marker('m1', 'mid', 200, 1)] });
    const listener = newListener();
    const bound = await resolve(show.enclosure, listener);
    const clean = await resolve(show.enclosure, newListener(), 'HEAD');
    const stored = async () =>
      (
        await bench.pool.query<{ sequence: number }>(
          `select b.*, a.document from binding b join arrangement a on a.id = b.arrangement_id
           where b.episode_id = $1 order by sequence`,
          [show.episodeId],
        )
      ).rows;
    const first = await stored();
    await applySeen(bench, await replaceAudio(show, right, mode));

    const timeline = bound.replace(/[^/]+$/, 'timeline.json');
    for (const old of [bound, clean, timeline])
      expect((await ask(old, { ...listener, range: 'bytes=0-' })).status).toBe(endsAll ? 410 : 206);
    const location = await resolve(show.enclosure, listener);
    expect(location === bound).toBe(!endsAll);
    const played = await ask(location, listener);
    const content = endsAll ? right : wrong;
    expect(played.status).toBe(200);
    expect(played.body.subarray(-content.length + 200 * frameBytes).equals(content.subarray(200 * frameBytes))).toBe(
      true,
    );
    // A new listener has the new file in any case, and it does not end.
    const fresh = newListener();
    const begun = await resolve(show.enclosure, fresh);
    for (const place of [begun, await resolve(show.enclosure, newListener(), 'HEAD')])
      expect((await ask(place, fresh)).body.subarray(-10 * frameBytes).equals(right.subarray(-10 * frameBytes))).toBe(
        true,
      );
    expect(await resolve(show.enclosure, fresh)).toBe(begun);
    const rows = await stored();
    expect(rows).toEqual(expect.arrayContaining(first));
    expect(rows).toHaveLength(endsAll ? 3 : 2);
  });

  test(`an unpublished episode ${endsAll ? 'ends every play, also after it is published again' : 'lets plays finish, at its enclosure too'}`, async () => {
    giveAds(bench, (_key, slot) => ads[slot]);
    const { enclosure, events } = await publishShow(bench, audio(10), {});
    const listener = newListener();
    bench.setClock(new Date(Date.now() - 60_000));
    const places = [await resolve(enclosure, listener), await resolve(enclosure, newListener(), 'HEAD')];
    bench.setClock(undefined);
    const ends = endsAll ? { plays_end_before: new Date().toISOString() } : {};
    const hidden = next(events.episode, ends, { state: 'unpublished' });
    await applySeen(bench, hidden);
    for (const place of places) expect((await ask(place, listener)).status).toBe(endsAll ? 410 : 200);
    const { status, headers } = await ask(enclosure, listener);
    expect([status, headers.location]).toEqual(endsAll ? [404, undefined] : [302, places[0]]);
    expect((await ask(enclosure, newListener())).status).toBe(404);
    await applySeen(bench, next(hidden, {}, { state: 'published' }));
    expect((await ask(places[0]!, listener)).status).toBe(endsAll ? 410 : 200);
    const again = await resolve(enclosure, listener);
    expect(again === places[0]).toBe(!endsAll);
    expect((await ask(again, listener)).status).toBe(200);
  });

  test(`a transfer that runs while its audio is replaced ${endsAll ? 'is broken off' : 'comes whole'}`, async () => {
    const show = await publishShow(bench, audio(50_000));
    const listener = newListener();
    const place = await resolve(show.enclosure, listener);
    const bystander = await publishShow(bench, audio(50_000));
    const [replaced, other] = await Promise.all(
      [place, await resolve(bystander.enclosure, listener)].map((each) => openTransfer(each, listener)),
    );
    await applySeen(bench, await replaceAudio(show, audio(10), mode));
    if (endsAll) await until(() => bench.logLines.some((line) => line.includes(replaced!.requestId)));
    expect(await replaced!.finish()).toBe(endsAll ? 'broken' : 'whole');
    expect(await other!.finish()).toBe('whole');
  });
});
