import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sha256 } from '@longwave/test-kit';
import fc from 'fast-check';
import type { DeliveryApp } from '../src/app.ts';
import { findAdTracks } from '../src/decisions/ad-track-table.ts';
import { apply, next } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { giveAds, publishShow, storeSegment, type Marker } from './_stitched.ts';
import { audio, eventOf, frameBytes, noAds, openBench, type Bench } from './_support.ts';

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
  /** The ad of each slot, if any. */
  given: fc.array(fc.option(fc.nat(3), { nil: undefined }), { minLength: 1, maxLength: 7 }),
  /** The cuts of the file, and the order and times of the requests for its parts. */
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

      // The bytes after the header, from the parts alone.
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

test('of several ads only those whose bytes are unavailable are left out, and not counted', async () => {
  const nobodyHas = audio(10);
  giveAds(bench, (key, slot) => (key === 'pre' ? nobodyHas : [nobodyHas, ads[1]][slot]));
  const content = audio(contentFrames);
  const { enclosure, episodeId } = await publishShow(bench, content, { markers: [marker('m1', 'mid', 200, 2)] });
  const listener = newListener();
  const { body } = await ask(await resolve(enclosure, listener), listener);
  const sound = [content.subarray(0, 200 * frameBytes), ads[1]!, content.subarray(200 * frameBytes)];
  expect(body.subarray(-content.length - ads[1]!.length)).toEqual(Buffer.concat(sound));
  expect(body.length - Buffer.concat(sound).length).toBeLessThan(4096);
  const { rows } = await bench.pool.query<{ ads: object }>('select ads from binding where episode_id = $1', [
    episodeId,
  ]);
  expect(rows.map((row) => Object.keys(row.ads))).toEqual([['m1/1']]);
});

test('the request for a decision has all known facts of episode, breaks and listener', async () => {
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
    streamFormats: [],
    country: 'US',
    region: '',
    surface: 'progressive',
    device: 'mobile',
    operatingSystem: 'iOS',
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

test('a play of several breaks answers HEAD as GET, single, suffix and several ranges, and conditions', async () => {
  giveAds(bench, (_key, slot) => ads[slot]);
  const { enclosure } = await publishShow(bench, audio(contentFrames), {
    markers: [marker('m1', 'mid', 200, 2), marker('end', 'post', contentFrames, 1)],
  });
  const listener = newListener();
  const location = await resolve(enclosure, listener);
  const { status, headers, body } = await ask(location, listener);
  const telling = (all: typeof headers) => {
    const { date: _date, 'x-request-id': _id, ...others } = all;
    return others;
  };
  expect(status).toBe(200);
  expect(telling(headers)).toMatchObject({
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=86400',
    'content-length': String(body.length),
    'content-type': 'audio/mpeg',
    etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
  });
  const head = await ask(location, listener, 'HEAD');
  expect([head.status, head.body.length, telling(head.headers)]).toEqual([200, 0, telling(headers)]);
  const ranged = (range: string, more: Record<string, string> = {}) => ask(location, { ...listener, range, ...more });
  const etag = headers.etag!;
  for (const [range, from, to] of [
    ['bytes=0-0', 0, 1],
    ['bytes=5000-99999999', 5000, body.length],
    ['bytes=-1', body.length - 1, body.length],
    ['bytes=-99999999', 0, body.length],
  ] as const) {
    const part = await ranged(range, { 'if-range': etag });
    expect([part.status, part.headers['content-range'], part.body.equals(body.subarray(from, to))]).toEqual([
      206,
      `bytes ${from}-${to - 1}/${body.length}`,
      true,
    ]);
  }
  // Several ranges get the whole file, and so does a range of another file.
  for (const answer of [await ranged('bytes=0-1,-5'), await ranged('bytes=5-', { 'if-range': `W/${etag}` })])
    expect([answer.status, answer.headers['content-length'], answer.body.equals(body)]).toEqual([
      200,
      String(body.length),
      true,
    ]);
  const outside = await ranged(`bytes=${body.length}-`);
  expect([outside.status, outside.headers['content-range']]).toEqual([416, `bytes */${body.length}`]);
  const known = await ask(location, { ...listener, 'if-none-match': `"x", ${etag}` });
  expect([known.status, known.body.length, known.headers.etag]).toEqual([304, 0, etag]);
});

test('a listener who reads slowly gets the right bytes, though the cache keeps nothing', async () => {
  giveAds(bench, (_key, slot) => ads[slot]);
  const markers = [200, 1_000, 2_000].map((frame) => marker(`m${frame}`, 'mid', frame, 2));
  const { enclosure } = await publishShow(bench, audio(3_000), { markers });
  const { enclosure: other } = await publishShow(bench, audio(3_000), { markers });
  const small = await bench.start({
    CACHE_MAX_BYTES: '1',
    CACHE_FOLDER: `${bench.folder}/small-cache`,
    JOURNAL_FOLDER: `${bench.folder}/small-journal`,
  });
  try {
    const listener = newListener();
    const location = await resolve(enclosure, listener);
    const expected = await ask(location, listener);
    const path = location.replace('http://media.test', `http://127.0.0.1:${small.port}`);
    const chunks: Buffer[] = [];
    const response = await new Promise<IncomingMessage>((done, reject) =>
      get(path, { headers: listener }, done).once('error', reject),
    );
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      // Another file pushes out what this one is read from.
      if (chunks.length % 8 === 0)
        await askAt(() => small.port)(`${other}?direct=1`, { ...listener, range: `bytes=${chunks.length * 1_000}-` });
    }
    expect(chunks.length).toBeGreaterThan(8);
    expect(sha256(Buffer.concat(chunks))).toBe(sha256(expected.body));
  } finally {
    await small[Symbol.asyncDispose]();
  }
});

test('every route, and every refusal of it, may be read from any origin', async () => {
  const { enclosure } = await publishShow(bench, audio(contentFrames));
  const listener = { ...newListener(), origin: 'https://player.example' };
  const location = await resolve(enclosure, listener);
  const file = location.split('/').at(-1)!;
  const beside = (name: string) => location.replace(file, name);
  const paths = [
    enclosure,
    `${enclosure}?direct=1`,
    location,
    ...['chapters.json', 'timeline.json', 'transcript.vtt'].map(beside),
  ];
  const answers = [
    ...(await Promise.all(paths.map((path) => ask(path, listener)))),
    ...(await Promise.all(paths.map((path) => ask(path, listener, 'OPTIONS')))),
    ...(await Promise.all(paths.map((path) => ask(path, listener, 'POST')))),
    ...(await Promise.all(paths.map((path) => ask(path.replace(/t1\.[^/]+/, 't1.'.padEnd(60, 'x')), listener)))),
    await ask(location, { ...listener, range: 'bytes=99999999-' }),
    await ask('/delivery/v1/nothing', listener),
    await ask('/delivery/v1/p/%E0%A4%A/x.mp3', listener),
  ];
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 204, 302, 404, 405, 416]));
  for (const { headers } of answers) {
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-expose-headers']).toContain('Content-Range');
  }
});

test('the ads of a show with HLS are asked for with tracks, which are stored once the listener has an answer', async () => {
  const show = await publishShow(bench, audio(contentFrames));
  await apply(bench, next(show.events.podcast, { hls_audio: true }));
  const [ad] = ads as [Buffer];
  const hls = {
    ...{ codec: 'mp4a.40.2', digest: 'e'.repeat(64), sizeBytes: 22_605n, durationMs: 981n },
    ...{ indexDigest: 'f'.repeat(64), indexSizeBytes: 60n },
  };
  giveAds(bench, () => ad);
  const { answer } = bench.serving;
  bench.serving.answer = async (request) => {
    const given = await answer(request);
    return { ...given, picks: given.picks.map((pick) => ({ ...pick, hls })) };
  };
  await resolve(show.enclosure, newListener());
  expect(bench.serving.requests.map(({ streamFormats }) => streamFormats)).toEqual([
    ['mp3/128000/48000/2', 'hls-aac-192'],
  ]);
  expect(await findAdTracks(bench.pool, [sha256(ad)])).toEqual(
    new Map([
      [
        sha256(ad),
        {
          ...{ codec: 'mp4a.40.2', digest: 'e'.repeat(64), size_bytes: 22_605, duration_ms: 981 },
          ...{ index_digest: 'f'.repeat(64), index_size_bytes: 60 },
        },
      ],
    ]),
  );
});
