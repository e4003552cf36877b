import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@longwave/problems';
import { sha256, until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { askAt, newListener } from './_ask.ts';
import { releaseWith } from './_release.ts';
import {
  audio,
  eventOf,
  makeShow,
  noAds,
  openBench,
  pickOf,
  playedFacts,
  publishEvents,
  writtenBytes,
  type Bench,
  type Show,
} from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);

const release = releaseWith(() => bench, ask);

beforeAll(async () => {
  bench = await openBench();
  // A machine that is busy must not make a decision late.
  app = await bench.start({ DECIDE_DEADLINE_MS: '1000' });
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

describe('one play', () => {
  let show: Show;
  let enclosure: string;
  const ad = audio(1250);

  beforeAll(async () => {
    show = await makeShow(bench.store, audio(6000));
    enclosure = await release(show);
    await bench.store.put(`media/${sha256(ad)}`, ad, { contentType: 'audio/mpeg' });
  });

  const resolve = async (headers: Record<string, string>, path = enclosure, method = 'GET') => {
    const answer = await ask(path, headers, method);
    expect(answer.status).toBe(302);
    return String(answer.headers.location);
  };
  const withAd = () =>
    (bench.serving.answer = async (request) => ({ ...noAds(request), picks: [pickOf(ad)], servingPlanId: 'spl' }));

  test('is redirected to header, ad and content, which any range gives back exactly', async () => {
    withAd();
    const listener = newListener();
    const redirect = await ask(enclosure, listener);
    expect(redirect.headers['cache-control']).toBe('private, no-store');
    expect(redirect.headers['accept-ranges']).toBe('bytes');
    const location = String(redirect.headers.location);
    const { status, headers, body } = await ask(location, listener);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('private, max-age=86400');
    expect(headers['content-type']).toBe('audio/mpeg');
    expect(headers['content-length']).toBe(String(body.length));
    expect(body.subarray(0, 4).toString('latin1')).toBe('ID3\x03');
    expect(body.subarray(-show.content.length).equals(show.content)).toBe(true);
    expect(body.subarray(-show.content.length - ad.length, -show.content.length).equals(ad)).toBe(true);
    const middle = body.length - show.content.length;
    for (const [from, to] of [
      [0, 2],
      [0, body.length],
      [1000, middle + 5],
      [middle - 1, middle + 1],
      [body.length - 1, body.length],
    ] as const) {
      const part = await ask(location, { ...listener, range: `bytes=${from}-${to - 1}` });
      expect(part.status).toBe(206);
      expect(part.headers['content-range']).toBe(`bytes ${from}-${to - 1}/${body.length}`);
      expect(part.body.equals(body.subarray(from, to))).toBe(true);
    }
    const suffix = await ask(location, { ...listener, range: 'bytes=-100' });
    expect(suffix.body).toEqual(body.subarray(-100));
    const several = await ask(location, { ...listener, range: 'bytes=0-1,5-6' });
    expect([several.status, several.body.length]).toEqual([200, body.length]);
    const outside = await ask(location, { ...listener, range: `bytes=${body.length}-` });
    expect([outside.status, outside.headers['content-range']]).toEqual([416, `bytes */${body.length}`]);
    const known = await ask(location, { ...listener, 'if-none-match': headers.etag! });
    expect([known.status, known.body.length]).toEqual([304, 0]);
    const resumed = await ask(location, { ...listener, range: 'bytes=5-', 'if-range': headers.etag! });
    expect(resumed.status).toBe(206);
    const changed = await ask(location, { ...listener, range: 'bytes=5-', 'if-range': '"other"' });
    expect([changed.status, changed.body.length]).toEqual([200, body.length]);
    const head = await ask(location, listener, 'HEAD');
    expect([head.status, head.body.length, head.headers['content-length']]).toEqual([200, 0, String(body.length)]);
  });

  test('has a date, and answers every condition that names its tag or its date', async () => {
    const listener = newListener();
    const location = await resolve(listener);
    const { headers, body } = await ask(location, listener);
    const { etag, 'last-modified': modified } = headers as { etag: string; 'last-modified': string };
    expect(modified).toBe('Fri, 20 Nov 2026 10:00:00 GMT');
    const statusOf = async (conditions: Record<string, string>) =>
      (await ask(location, { ...listener, ...conditions })).status;
    const range = 'bytes=5-';
    expect(await statusOf({ 'if-match': etag, range })).toBe(206);
    expect(await statusOf({ 'if-match': '*' })).toBe(200);
    expect(await statusOf({ 'if-modified-since': modified })).toBe(304);
    expect(await statusOf({ 'if-range': modified, range })).toBe(206);
    expect(await statusOf({ 'if-range': 'Fri, 20 Nov 2026 09:59:59 GMT', range })).toBe(200);
    expect(await statusOf({ 'if-unmodified-since': 'Fri, 20 Nov 2026 09:59:59 GMT' })).toBe(412);
    const other = await ask(location, { ...listener, 'if-match': '"other"', range });
    expect([other.status, other.headers['content-range'], JSON.parse(other.body.toString()).code]).toEqual([
      412,
      undefined,
      'precondition_failed',
    ]);
    const clean = `/delivery/v1/a/${sha256(show.content)}/x.mp3`;
    expect((await ask(clean, listener, 'HEAD')).headers['last-modified']).toBe(modified);
    expect((await ask(clean, { ...listener, 'if-match': `"${sha256(show.content)}"` })).status).toBe(200);
    expect((await ask(clean, { ...listener, 'if-match': etag })).status).toBe(412);
    // The enclosure is one address of many files, so a date does not tell them apart.
    const direct = await ask(`${enclosure}?direct=1`, { ...listener, 'if-modified-since': modified });
    expect([direct.status, direct.headers['last-modified'], direct.body.equals(body)]).toEqual([200, undefined, true]);
    expect((await ask(`${enclosure}?direct=1`, { ...listener, 'if-match': '"other"' })).status).toBe(412);
  });

  test('is saved under its name by a browser that is asked to', async () => {
    const listener = newListener();
    const name = new URL(enclosure).pathname.split('/').at(-1)!;
    const disposition = `attachment; filename="${name}"`;
    const plain = await ask(await resolve(listener), listener);
    expect(plain.headers['content-disposition']).toBeUndefined();
    const location = await resolve(listener, `${enclosure}?download=1`);
    const saved = await ask(location, listener);
    expect([saved.headers['content-disposition'], saved.body.equals(plain.body)]).toEqual([disposition, true]);
    for (const address of [location, `${enclosure}?direct=1&download=1`])
      expect((await ask(address, { ...listener, range: 'bytes=0-9' })).headers['content-disposition']).toBe(
        disposition,
      );
    const clean = await ask(`/delivery/v1/a/${sha256(show.content)}/x.mp3?download=1`, listener, 'HEAD');
    expect(clean.headers['content-disposition']).toBe('attachment; filename="x.mp3"');
  });

  test('twenty requests of one listener at once give one decision and one address', async () => {
    withAd();
    const listener = newListener();
    const locations = await Promise.all(Array.from({ length: 20 }, () => resolve(listener)));
    expect(new Set(locations).size).toBe(1);
    expect(bench.serving.requests).toHaveLength(1);
    const bindings = await bench.pool.query('select from binding where decision_id = $1', [
      bench.serving.requests[0]!.decisionId,
    ]);
    expect(bindings.rowCount).toBe(1);
  });

  test('two processes asked at once by one listener give one arrangement', async () => {
    withAd();
    const other = await bench.start({
      CACHE_FOLDER: `${bench.folder}/cache-2`,
      JOURNAL_FOLDER: `${bench.folder}/journal-2`,
    });
    try {
      const listener = newListener();
      const here = Array.from({ length: 10 }, () => resolve(listener));
      const there = Array.from({ length: 10 }, async () =>
        String(
          (
            await fetch(enclosure.replace('http://media.test', `http://127.0.0.1:${other.port}`), {
              headers: listener,
              redirect: 'manual',
            })
          ).headers.get('location'),
        ),
      );
      expect(new Set(await Promise.all([...here, ...there])).size).toBe(1);
      expect(new Set(bench.serving.requests.map((request) => request.decisionId)).size).toBe(1);
    } finally {
      await other[Symbol.asyncDispose]();
    }
  });

  test('a listener keeps the arrangement for 24 h, then a new decision is made; its old address still gives the old bytes', async () => {
    withAd();
    const listener = newListener();
    const start = Date.now();
    const first = await resolve(listener);
    bench.setClock(new Date(start + 23.9 * 3_600_000));
    expect(await resolve(listener)).toBe(first);
    bench.setClock(new Date(start + 24.1 * 3_600_000));
    bench.serving.answer = async (request) => noAds(request);
    const second = await resolve(listener);
    expect(second).not.toBe(first);
    expect(bench.serving.requests).toHaveLength(2);
    const old = await ask(first, listener);
    expect(old.body.includes(ad)).toBe(true);
    const late = await until(() =>
      playedFacts(bench.facts).find((fact) => fact.late && fact.episode_id === show.episodeId),
    );
    expect(late.arrangement_id).toBe(old.headers.etag!.slice(1, -1));
  });

  test.each([
    ['late', 'late', () => new Promise<never>(() => undefined)],
    ['failing', 'failed', () => Promise.reject(new Problem('internal_error'))],
    ['unreachable', 'unreachable', () => Promise.reject(new Problem('temporarily_unavailable'))],
    [
      'of another play',
      'invalid_answer',
      () => Promise.resolve({ decisionId: 'dec_other', servingPlanId: '', picks: [], noAdReason: '' }),
    ],
    ['of an ad that nobody has', 'segment_unavailable', undefined],
  ])(
    'a decision that is %s yields clean content and a reason, and the listener keeps those bytes',
    async (_name, reason, answer) => {
      bench.serving.answer = answer ?? (async (request) => ({ ...noAds(request), picks: [pickOf(audio(3))] }));
      const listener = newListener();
      // The decision that is late never comes.
      const clean = await ask(await resolve(listener), listener);
      expect(clean.status).toBe(200);
      expect(clean.body.subarray(-show.content.length).equals(show.content)).toBe(true);
      expect(clean.body.length - show.content.length).toBeLessThan(4096);
      const isOfReason = (line: string) =>
        line.includes('"decision.unavailable"') && line.includes(`"reason":"${reason}"`);
      // An error that has a reason of its own is not repeated.
      expect(bench.logLines.find(isOfReason)?.includes('"err":')).toBe(reason === 'failed');
      withAd();
      const again = await ask(await resolve(listener), listener);
      expect([again.headers.etag, again.body.equals(clean.body)]).toEqual([clean.headers.etag, true]);
      const other = newListener();
      expect((await ask(await resolve(other), other)).body.includes(ad)).toBe(true);
    },
  );

  test.each([
    ['HEAD', {}, 'HEAD'],
    ['Sec-Purpose', { 'sec-purpose': 'prefetch' }, 'GET'],
    ['Purpose', { purpose: 'prefetch' }, 'GET'],
    ['X-Moz', { 'x-moz': 'prefetch' }, 'GET'],
    ['Scout', { 'user-agent': 'Podcasts/1 CFNetwork/1 Darwin/1 Scout/1' }, 'GET'],
  ])('a dry run (%s) causes no decision, and gets the bound file', async (_name, headers, method) => {
    withAd();
    const listener = { ...newListener(), ...headers };
    const clean = await resolve(listener, enclosure, method);
    expect(bench.serving.requests).toHaveLength(0);
    expect((await ask(clean, listener)).body.includes(ad)).toBe(false);
    if (method !== 'HEAD') return;
    const bound = await resolve(listener);
    expect(await resolve(listener, enclosure, 'HEAD')).toBe(bound);
  });

  test('direct mode answers 200 and 206 without a redirect, under the same tag', async () => {
    withAd();
    const listener = newListener();
    const direct = await ask(`${enclosure}?direct=1`, listener);
    const part = await ask(`${enclosure}?direct=1`, { ...listener, range: 'bytes=0-1' });
    const played = await ask(await resolve(listener), listener);
    expect([direct.status, part.status, part.body.length]).toEqual([200, 206, 2]);
    expect(direct.headers.etag).toBe(played.headers.etag);
    expect(direct.body.equals(played.body)).toBe(true);
  });

  test('its facts add up to the bytes it got, name the ad and no address or user agent', async () => {
    withAd();
    const listener = newListener();
    const location = await resolve(listener);
    const referer = 'https://podcasts.apple.com/of/anna';
    const answer = await ask(location, { ...listener, referer, range: 'bytes=100-999999' });
    const decision = bench.serving.requests.at(-1)!;
    const facts = await until(() => {
      const mine = playedFacts(bench.facts).filter((fact) => fact.request_id === answer.headers['x-request-id']);
      return writtenBytes(mine) === answer.body.length && mine;
    });
    const [fact] = facts;
    expect(fact).toMatchObject({
      method: 'GET',
      status: 206,
      requested: [[100, 1_000_000]],
      episode_id: show.episodeId,
      podcast_id: show.podcastId,
      late: false,
      address_verdict: 'ok',
      published_at: '2026-11-20T10:00:00.000Z',
      web_player: 'Apple Podcasts',
    });
    expect(fact!.parts.map((part) => part.kind)).toEqual(['header', 'ad', 'content']);
    expect(fact!.parts[1]!.ad).toMatchObject({ break_key: 'pre', slot: 0 });
    expect(fact!.parts.at(-1)!.to).toBe(fact!.total_bytes);
    expect(decision.listenerBucket.toString('hex')).toBe(fact!.listener_key.slice(0, 32));
    // A fact ends with each part.
    const ends = facts.flatMap(({ written }) => written.map(([, to]) => to));
    expect(ends).toEqual(expect.arrayContaining([fact!.parts[0]!.to, fact!.parts[1]!.to, 1_000_000]));
    const text = JSON.stringify(facts);
    expect(text).not.toContain(listener['x-forwarded-for']);
    expect(text).not.toContain('AppleCoreMedia');
    expect(text).not.toMatch(/podcasts\.apple\.com|of\/anna/);
    await until(() =>
      bench.facts.some(
        (each) =>
          each.kind === 'user_agent_seen' &&
          each.user_agent === 'AppleCoreMedia/1.0.0' &&
          each.user_agent_digest === fact!.user_agent_digest,
      ),
    );
  });

  test('a response that is broken off is credited with the written bytes, not with the requested ones', async () => {
    const large = await makeShow(bench.store, audio(100_000));
    const location = await resolve(newListener(), await release(large));
    const requestId = await new Promise<string>((done, reject) => {
      const request = httpRequest(
        { host: '127.0.0.1', port: app.port, path: location.replace('http://media.test', '') },
        (response) => {
          let received = 0;
          response.on('data', (chunk: Buffer) => {
            received += chunk.length;
            if (received < 1 << 20) return;
            done(String(response.headers['x-request-id']));
            request.destroy();
          });
          response.on('error', () => undefined);
        },
      );
      request.on('error', reject);
      request.end();
    });
    await until(() => bench.logLines.some((line) => line.includes(requestId)));
    const written = await until(() => {
      const bytes = writtenBytes(playedFacts(bench.facts).filter((fact) => fact.request_id === requestId));
      return bytes > 900_000 && bytes;
    });
    expect(written).toBeLessThan(large.content.length);
  });

  test('an expired token of an unpublished podcast is not found', async () => {
    const other = await makeShow(bench.store, audio(10));
    const location = await resolve(newListener(), await release(other));
    await publishEvents(bench.bus, [
      eventOf('podcasts', other.podcastId, 4, 'unpublished', other.events.podcast.after.attributes),
    ]);
    await until(async () => (await ask(`/feeds/${other.subdomain}.xml`)).status === 404);
    expect((await ask(location, newListener())).status).toBe(200);
    bench.setClock(new Date(Date.now() + 72 * 3_600_000));
    expect((await ask(location, newListener())).status).toBe(404);
  });

  test('clean audio is public under its digest for as long as it is published', async () => {
    const path = `/delivery/v1/a/${sha256(show.content)}/x.mp3`;
    const answer = await ask(path, newListener());
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(answer.body.equals(show.content)).toBe(true);
  });
});

describe('the media port', () => {
  test('names its contract, its version and the surfaces that it serves', async () => {
    const { body } = await ask('/delivery/v1/contract');
    expect(JSON.parse(body.toString())).toEqual({
      name: 'Public Delivery API',
      version: '1.3.1',
      status: 'current',
      deprecations: [],
      surfaces: [
        { name: 'progressive', status: 'current', media: ['audio'], events: ['GET', 'POST'], version: 2 },
        { name: 'hls', status: 'current', media: ['audio', 'video'], events: ['GET', 'POST'], version: 3 },
        { name: 'vast', status: 'current', media: ['audio', 'video'], events: ['GET', 'POST'], version: 3 },
      ],
    });
  });

  test('any origin may read, nobody may write', async () => {
    const preflight = await ask('/delivery/v1/contract', { origin: 'https://a.example' }, 'OPTIONS');
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*']);
    expect(preflight.headers['access-control-expose-headers']).toContain('Content-Range');
    const refused = await ask('/delivery/v1/contract', {}, 'POST');
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test('no log line holds a token, an address, a user agent or a path', () => {
    expect(bench.logLines.filter((line) => line.includes('request.served')).length).toBeGreaterThan(50);
    for (const line of bench.logLines) {
      expect(line).not.toMatch(/t1\.[\w-]|198\.18\.|AppleCoreMedia|\/delivery\/v1|\.mp3/);
      if (line.includes('"request.')) expect(line).not.toContain('127.0.0.1');
    }
  });
});
