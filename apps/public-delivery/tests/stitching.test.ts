import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { DeliveryApp } from '../src/app.ts';
import { apply, next } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { giveAds, publishShow, storeSegment, type Marker } from './_stitched.ts';
import {
  audio,
  eventOf,
  eventually,
  frameBytes,
  noAds,
  openBench,
  playedFacts,
  sha256,
  type Bench,
} from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);

/** Of different sizes, so that a wrong one shows. */
const ads = [40, 55, 70, 85].map(audio);

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
  for (const ad of ads) await storeSegment(bench, ad);
}, 60_000);
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
}, 30_000);
beforeEach(() => {
  bench.serving.answer = async (request) => noAds(request);
  bench.serving.requests.length = 0;
  bench.setClock(undefined);
});

const hourMs = 3_600_000;
const marker = (key: string, kind: Marker['kind'], frame: number, max_slots: number): Marker => ({
  ...{ key, kind, position_ms: frame * 24, max_slots },
});
const resolve = async (enclosure: string, headers: Record<string, string>, method = 'GET') => {
  const answer = await ask(enclosure, headers, method);
  expect(answer.status).toBe(302);
  return String(answer.headers.location);
};

const contentFrames = 600;
const shapes = fc.record({
  mid: fc.uniqueArray(
    fc.record({ frame: fc.integer({ min: 1, max: contentFrames - 1 }), slots: fc.integer({ min: 1, max: 3 }) }),
    {
      maxLength: 4,
      selector: ({ frame }) => frame,
    },
  ),
  pre: fc.nat(2),
  post: fc.nat(2),
  /** Which ad each slot gets, if any. */
  given: fc.array(fc.option(fc.nat(3), { nil: undefined }), { minLength: 1, maxLength: 7 }),
  /** Where the file is divided, the order in which the divisions are asked for, and when. */
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
  order: fc.array(fc.nat(), { minLength: 7, maxLength: 7 }),
  hours: fc.array(fc.integer({ min: 0, max: 24 * 40 }), { minLength: 7, maxLength: 7 }),
});

test('any ranges of a play, in any order and on any day, are together the bytes of its parts', async () => {
  const content = audio(contentFrames);
  const intro = audio(20);
  const outro = audio(30);
  const around = { intro: await storeSegment(bench, intro), outro: await storeSegment(bench, outro) };
  await fc.assert(
    fc.asyncProperty(shapes, async ({ mid, pre, post, given, cuts, order, hours }) => {
      bench.setClock(undefined);
      const marks = [
        ...(pre > 0 ? [marker('start', 'pre', 0, pre)] : []),
        ...mid.map(({ frame, slots }) => marker(`m${frame}`, 'mid', frame, slots)),
        ...(post > 0 ? [marker('end', 'post', contentFrames, post)] : []),
      ];
      const chosen = new Map<string, Buffer[]>();
      let turn = 0;
      giveAds(bench, (key) => {
        const ad = ads[given[turn++ % given.length] ?? -1];
        if (ad) chosen.set(key, [...(chosen.get(key) ?? []), ad]);
        return ad;
      });
      const { enclosure } = await publishShow(bench, content, { markers: marks, ...around });
      const listener = newListener();
      const beganMs = Date.now();
      const location = await resolve(enclosure, listener);

      // What must come after the header, from the parts alone.
      const of = (key: string) => chosen.get(key) ?? [];
      const inside = mid.toSorted((a, b) => a.frame - b.frame);
      const bounds = [0, ...inside.map(({ frame }) => frame), contentFrames];
      const pieces = bounds.slice(1).map((to, i) => content.subarray(bounds[i]! * frameBytes, to * frameBytes));
      const sound = Buffer.concat([
        ...of(pre > 0 ? 'start' : 'pre'),
        intro,
        ...pieces.flatMap((piece, i) => (i === 0 ? [piece] : [...of(`m${inside[i - 1]!.frame}`), piece])),
        outro,
        ...of('end'),
      ]);

      const { headers } = await ask(location, listener, 'HEAD');
      const total = Number(headers['content-length']);
      const edges = [0, ...cuts.map((cut) => Math.floor(cut * total)), total].toSorted((a, b) => a - b);
      const ranges = edges.slice(1).map((to, i) => ({ from: edges[i]!, to }));
      const whole = Buffer.alloc(total);
      for (const i of ranges
        .keys()
        .toArray()
        .toSorted((a, b) => order[a]! - order[b]!)) {
        const { from, to } = ranges[i]!;
        if (from === to) continue;
        bench.setClock(new Date(beganMs + hours[i]! * hourMs));
        // A client that resolves again for each range comes within the day that a play is kept.
        const place = hours[i]! < 24 ? await resolve(enclosure, listener) : location;
        const part = await ask(place, { ...listener, range: `bytes=${from}-${to - 1}`, 'if-range': headers.etag! });
        expect([part.status, part.headers['content-range'], part.headers.etag]).toEqual([
          206,
          `bytes ${from}-${to - 1}/${total}`,
          headers.etag,
        ]);
        part.body.copy(whole, from);
      }
      expect(sha256(whole.subarray(-sound.length))).toBe(sha256(sound));
      expect(whole.subarray(0, 3).toString('latin1')).toBe('ID3');
      expect(total - sound.length).toBeLessThan(4096);
      const again = await ask(location, listener);
      expect([again.headers.etag, sha256(again.body)]).toEqual([headers.etag, sha256(whole)]);
    }),
    { numRuns: 40 },
  );
}, 120_000);

test('resolving again, retrying, seeking and resuming six hours later give the same bytes', async () => {
  giveAds(bench, (_key, slot) => ads[slot]);
  const { enclosure } = await publishShow(bench, audio(contentFrames), {
    markers: [marker('m1', 'mid', 200, 2), marker('m2', 'mid', 400, 1), marker('end', 'post', contentFrames, 2)],
  });
  const listener = newListener();
  const began = Date.now();
  const location = await resolve(enclosure, listener);
  const { headers, body } = await ask(location, listener);
  const from = (at: number) => ({ ...listener, range: `bytes=${at}-`, 'if-range': headers.etag! });
  for (const hours of [0, 6, 23]) {
    bench.setClock(new Date(began + hours * hourMs));
    expect(await resolve(enclosure, listener)).toBe(location);
    for (const at of [0, 1, Math.floor(body.length / 3), body.length - 1]) {
      const part = await ask(location, from(at));
      expect([part.status, part.body.equals(body.subarray(at))]).toEqual([206, true]);
    }
  }
  expect(bench.serving.requests).toHaveLength(1);
});

test.each([
  ['HEAD', {}, 'HEAD'],
  ['a prefetcher', { 'sec-purpose': 'prefetch' }, 'GET'],
  ['Scout', { 'user-agent': 'Podcasts/1 CFNetwork/1 Darwin/1 Scout/1' }, 'GET'],
])('%s gets the whole content in one piece and reserves nothing', async (_name, headers, method) => {
  giveAds(bench, (_key, slot) => ads[slot]);
  const content = audio(contentFrames);
  const { enclosure, episodeId } = await publishShow(bench, content, { markers: [marker('m1', 'mid', 200, 2)] });
  const listener = { ...newListener(), ...headers };
  const clean = await ask(await resolve(enclosure, listener, method), listener);
  expect(clean.body.subarray(-content.length).equals(content)).toBe(true);
  expect(bench.serving.requests).toHaveLength(0);
  expect((await bench.pool.query('select from binding where episode_id = $1', [episodeId])).rowCount).toBe(0);
});

test('what is asked of a decision is what is known of episode, breaks and listener', async () => {
  const { enclosure, events, ...show } = await publishShow(
    bench,
    audio(contentFrames),
    { explicit: true, markers: [marker('m1', 'mid', 200, 2)] },
    { loudness: { input_lufs: -20.4, output_lufs: -16.12, true_peak_dbtp: -1 }, silences: [[5_000, 5_480]] },
  );
  const { podcast } = events;
  await publishPlan(show.podcastId, {
    ad_load_limit_ms: 60_000,
    breaks: [
      {
        ...{ key: 'a', position: 'mid', anchor: { kind: 'marker', key: 'm1' }, max_slots: 3, max_duration_ms: 45_000 },
        slot_rules: [{ slot: 0, max_duration_ms: 20_000, line_item_types: ['house'], productions: ['host_read'] }],
      },
      { key: 'z', position: 'post', anchor: { kind: 'time', position_ms: 0 }, max_slots: 1, max_duration_ms: 30_000 },
    ],
  });
  await resolve(enclosure, {
    'user-agent': 'Overcast/3.0 (+http://overcast.fm/; iOS podcast app)',
    'x-forwarded-for': '8.8.8.8',
  });
  const [{ decisionId, listenerBucket, previousListenerBucket, atMs, ...asked }] = bench.serving.requests as [
    (typeof bench.serving.requests)[number],
  ];
  expect(decisionId).toMatch(/^dec_/);
  expect([listenerBucket.length, Number(atMs) > Date.now() - 60_000]).toEqual([16, true]);
  expect([0, 16]).toContain(previousListenerBucket.length);
  expect(asked).toEqual({
    workspaceId: podcast.workspace_id,
    podcastId: show.podcastId,
    episodeId: show.episodeId,
    streamFormat: 'mp3/128000/48000/2',
    country: 'US',
    region: '',
    surface: 'progressive',
    device: 'mobile',
    app: 'Overcast',
    language: 'en',
    explicit: true,
    contentCategories: ['Science'],
    publishedAtMs: BigInt(Date.parse('2026-11-20T10:00:00Z')),
    loudnessCentilufs: -1612,
    adLoadLimitMs: 60_000n,
    breaks: [
      {
        ...{ key: 'a', position: 'mid', maxSlots: 2, maxDurationMs: 45_000n, positionMs: 5_232n },
        slotRules: [{ slot: 0, maxDurationMs: 20_000n, lineItemTypes: ['house'], productions: ['host_read'] }],
      },
      {
        ...{ key: 'z', position: 'post', maxSlots: 1, maxDurationMs: 30_000n, slotRules: [] },
        positionMs: BigInt(contentFrames * 24),
      },
    ],
  });
});

/** A plan for one podcast, over the bus, once it is known. */
async function publishPlan(podcastId: string, plan: Record<string, unknown>): Promise<void> {
  const unitId = `inv_${podcastId}`;
  await apply(
    bench,
    eventOf('inventory_units', unitId, 1, 'active', {
      ...{ name: 'Show', kind: 'show', source_ref: { podcast_id: podcastId }, content_categories: [] },
    }),
    eventOf('break_plans', `brk_${podcastId}`, 1, 'published', {
      ...{ name: 'Plan', inventory_unit_ids: [unitId], min_gap_ms: 0, effective_at: '2026-11-20T10:00:00Z' },
      ...plan,
    }),
  );
}

let halts = 0;
/** Halts something; answers how to release it. */
async function halt(scope: Record<string, unknown>): Promise<() => Promise<void>> {
  const event = eventOf('serving_halts', `hlt_${++halts}`, 1, 'active', { scope, cause: 'A complaint' });
  await apply(bench, event);
  return () => apply(bench, next(event, {}, { state: 'released' }));
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
    // Many at once, and those who only look, see the same new file.
    const places = await Promise.all([
      ...Array.from({ length: 8 }, () => resolve(enclosure, listener)),
      resolve(enclosure, listener, 'HEAD'),
    ]);
    expect(new Set(places).size).toBe(1);
    const after = await ask(places[0]!, { ...listener, range: 'bytes=1000-', 'if-range': old.headers.etag! });
    expect([after.status, after.headers.etag === old.headers.etag]).toEqual([200, false]);
    expect(after.body.subarray(-content.length - ads[3]!.length - ads[1]!.length)).toEqual(
      Buffer.concat([ads[3]!, content.subarray(0, 200 * frameBytes), ads[1]!, content.subarray(200 * frameBytes)]),
    );
    const rows = await bindings();
    expect(rows.map(({ sequence }) => sequence)).toEqual([0, 1]);
    const { 'm1/0': _, ...left } = first!.ads;
    expect(rows[1]).toMatchObject({ ads: left, started_at: first!.started_at });
    expect(Object.keys(rows[1]!.ads)).toEqual(Object.keys(left));
    // What was handed out stays what it is.
    expect((await ask(before, listener)).body.equals(old.body)).toBe(true);
    // What was given stays counted under its serving.
    const fact = await eventually(() =>
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

test.each(['workspace', 'show', 'surface'] as const)('a halted %s has no ads, neither bound nor new', async (kind) => {
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
  const again = await ask(await resolve(enclosure, other), other);
  expect(again.body.length).toBeGreaterThan(content.length + 4096);
});

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

test('a decision that gives what was halted is bound without it', async () => {
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
