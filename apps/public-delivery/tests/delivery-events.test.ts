import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { deliveryEventKinds } from '@longwave/events';
import { newId } from '@longwave/ids';
import { deliveryContract } from '@longwave/services';
import { sha256, until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { askAt, bodyButTrace, newListener, type Answer } from './_ask.ts';
import { releaseWith } from './_release.ts';
import { serveOnce, tokensOf, type Served } from './_serving.ts';
import { audio, eventFacts, makeShow, openBench, type Bench, type Show } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
let show: Show;
let served: Served;
let token: string;
const ask = askAt(() => app.port);
const release = releaseWith(() => bench, ask);
const ad = audio(1250);
const dayMs = 86_400_000;

const mint = (tokens = tokensOf(bench), purpose: 'evt' | 'clk' = 'evt', of: Served = served) =>
  tokens.mint(purpose, of, of.startedAt);
const at = (each: string, query = '') => `/delivery/v1/ev/${each}${query}`;
const post = (path: string, body: unknown, headers: Record<string, string> = served.listener) =>
  ask(path, { ...headers, 'content-type': 'application/json' }, 'POST', JSON.stringify(body));
/** The parts of an answer that must be equal for all requests. */
const seen = (answer: Answer) => {
  const { date: _date, 'x-request-id': _id, ...headers } = answer.headers;
  return { status: answer.status, headers, body: bodyButTrace(answer) };
};
/** The sequence of the report that marks an end. */
const mark = 65_535;
const reportsOf = (of: Served) => eventFacts(bench.facts).filter((fact) => fact.serving_id === of.servingId);
const factsOf = (of: Served) => reportsOf(of).filter((fact) => fact.sequence !== mark);
/** Facts of one play reach the bus in order, so all earlier reports of `served` are seen before this mark. */
async function settled(): Promise<void> {
  expect((await ask(at(mint(), `?e=start&n=${mark}`), served.listener)).status).toBe(204);
  await until(() => reportsOf(served).some((fact) => fact.sequence === mark));
}
let enclosure: string;

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start({ INTERNAL_ADDRESSES: '192.0.2.7' });
  show = await makeShow(bench.store, audio(3000));
  enclosure = await release(show);
  await bench.store.put(`media/${sha256(ad)}`, ad, { contentType: 'audio/mpeg' });
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});
beforeEach(async () => {
  bench.setClock(undefined);
  served = await serveOnce(bench, ask, enclosure, ad);
  token = mint();
});

test('every kind is accepted by GET and by POST, and its fact has the fields stored with the decision', async () => {
  const reports = deliveryEventKinds.flatMap((event) =>
    deliveryContract.surfaces[0]!.events.map((method) => ({ event, method })),
  );
  for (const [i, { event, method }] of reports.entries()) {
    const answer =
      method === 'GET'
        ? await ask(at(token, `?e=${event}&n=${i}&_HLS_primary_id=x`), served.listener)
        : await post(at(token), { event, sequence: i, at: '2026-11-21T10:00:00+01:00' });
    expect([answer.status, answer.body.length, answer.headers['cache-control']]).toEqual([204, 0, 'no-store']);
  }
  const facts = await until(() => {
    const found = factsOf(served);
    return found.length === reports.length && found;
  });
  expect(facts.map((fact) => [fact.event, fact.sequence])).toEqual(reports.map(({ event }, i) => [event, i]));
  expect(reports).toHaveLength(2 * deliveryEventKinds.length);
  const { rows } = await bench.pool.query<{ ads: Record<string, object>; listener_key: string }>(
    'select ads, listener_key from binding where decision_id = $1',
    [served.decisionId],
  );
  const { billable: _billable, ...stored } = rows[0]!.ads['pre/0'] as Record<string, unknown>;
  expect(facts[1]).toMatchObject({
    ...stored,
    ...{ listener_key: rows[0]!.listener_key, podcast_id: show.podcastId, episode_id: show.episodeId, late: false },
    // 1,250 frames of 24 ms.
    ...{ address_verdict: 'ok', reported_at: '2026-11-21T10:00:00+01:00', ad_duration_ms: 30_000 },
  });
  expect(JSON.stringify(facts)).not.toContain(served.listener['x-forwarded-for']);
});

test('the body wins over the query, and without either there is no event', async () => {
  expect((await post(at(token, '?e=start&n=1'), { event: 'skip' })).status).toBe(204);
  expect((await ask(at(token, '?e=mute&n=2'), served.listener, 'POST')).status).toBe(204);
  await until(() => factsOf(served).length === 2);
  expect(factsOf(served).map(({ event, sequence }) => `${event} ${sequence}`)).toEqual(['skip 1', 'mute 2']);
  expect((await ask(at(token), served.listener)).status).toBe(400);
});

test('a pixel is a GIF of 43 bytes', async () => {
  const { status, headers, body } = await ask(at(token, '?e=impression&f=gif'), served.listener);
  expect([status, headers['content-type'], headers['content-length'], headers['cache-control']]).toEqual([
    200,
    'image/gif',
    '43',
    'no-store',
  ]);
  expect(body.toString('latin1', 0, 10)).toBe('GIF89a\x01\x00\x01\x00');
  expect(body).toHaveLength(43);
});

test('twenty identical events at once are one fact, and every answer is the same, first and repeated', async () => {
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, () => ask(at(token, '?e=complete'), served.listener)),
    ...Array.from({ length: 10 }, () => post(at(token), { event: 'complete', sequence: 0 })),
  ]);
  answers.push(await ask(at(token, '?e=complete'), newListener()));
  expect(new Set(answers.map((answer) => JSON.stringify(seen(answer)))).size).toBe(1);
  await settled();
  expect(new Set(factsOf(served).map((fact) => fact.fact_id)).size).toBe(1);
  expect((await ask(at(token, '?e=complete&n=1'), served.listener)).status).toBe(204);
  await until(() => new Set(factsOf(served).map((fact) => fact.fact_id)).size === 2);
});

describe('a token that is not of a serving here', () => {
  const flipped = () => {
    const bytes = Buffer.from(token.slice(3), 'base64url');
    bytes[30]! ^= 4;
    return `t1.${bytes.toString('base64url')}`;
  };
  test.each<[string, () => string]>([
    ['forged', flipped],
    ['truncated', () => token.slice(0, -4)],
    ['of clicks', () => mint(undefined, 'clk')],
    ['of another host', () => mint(tokensOf(bench, { host: 'other.test' }))],
    ['under another secret', () => mint(tokensOf(bench, { secret: randomBytes(32).toString('hex') }))],
    ['of a serving that never was', () => mint(undefined, 'evt', { ...served, servingId: newId('srv') })],
    ['of a decision that never was', () => mint(undefined, 'evt', { ...served, decisionId: newId('dec') })],
    ['a legacy API token', () => `svc_pat_${'a'.repeat(40)}`],
    ['an access token', () => `eyJhbGciOiJFZERTQSJ9.eyJhIjoxfQ.${'a'.repeat(40)}`],
  ])('is answered by the same 404 and reports nothing: %s', async (_what, bad) => {
    const nothing = seen(await ask('/delivery/v1/nothing', served.listener));
    expect(nothing.status).toBe(404);
    const headers = { ...served.listener, authorization: `Bearer ${token}`, token };
    expect(seen(await ask(at(bad(), '?e=start'), headers))).toEqual(nothing);
    expect(seen(await post(at(bad()), { event: 'start' }, headers))).toEqual(nothing);
    expect(seen(await post('/delivery/v1/ev', { events: [{ token: bad(), event: 'start' }] }, headers))).toEqual(
      nothing,
    );
    await settled();
    expect(factsOf(served)).toEqual([]);
  });
});

test('a report within 30 days is on time, one within 180 is kept as late, and after that there is no key for it', async () => {
  const beganMs = served.startedAt.getTime();
  bench.setClock(new Date(beganMs + 30 * dayMs - 2_000));
  expect((await ask(at(token, '?e=start'), served.listener)).status).toBe(204);
  bench.setClock(new Date(beganMs + 31 * dayMs));
  expect((await ask(at(token, '?e=midpoint'), served.listener)).status).toBe(204);
  await until(() => factsOf(served).length === 2);
  expect(factsOf(served).map(({ event, late }) => [event, late])).toEqual([
    ['start', false],
    ['midpoint', true],
  ]);
  bench.setClock(new Date(beganMs + 188 * dayMs));
  expect((await ask(at(token, '?e=complete'), served.listener)).status).toBe(404);
});

test.each([
  ['?e=sold', undefined],
  ['?e=start&n=-1', undefined],
  ['?e=start&n=1e3', undefined],
  ['?e=start&n=70000', undefined],
  ['?e=start&e=skip', undefined],
  ['?e=start&f=png', undefined],
  ['', '{"event":"sold"}'],
  ['', '{"event":"start","line_item_id":"li_1"}'],
  ['', '{"event":"start","price":1}'],
  ['', '{"event":"start","sequence":1.5}'],
  ['', '{"event":"start","at":"yesterday"}'],
  ['', '{"event":'],
  ['', '[]'],
])('a malformed report is 400, whether or not its token is genuine: %s %s', async (query, body) => {
  for (const each of [token, `t1.${'A'.repeat(100)}`]) {
    const answer = await ask(at(each, query), served.listener, body === undefined ? 'GET' : 'POST', body);
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toBe('application/problem+json');
  }
  await settled();
  expect(factsOf(served)).toEqual([]);
});

describe('a queue of reports', () => {
  const items = (count: number, of = token) =>
    Array.from({ length: count }, (_, sequence) => ({ token: of, event: 'progress', sequence }));

  test('is accepted whole, 50 at once, and again without another fact', async () => {
    const first = await post('/delivery/v1/ev', { events: items(50) });
    expect([first.status, first.body.length]).toEqual([204, 0]);
    expect(seen(await post('/delivery/v1/ev', { events: items(50) }))).toEqual(seen(first));
    await settled();
    expect(new Set(factsOf(served).map((fact) => fact.fact_id)).size).toBe(50);
  });

  test('is not held back by a stale token', async () => {
    const other = await serveOnce(bench, ask, enclosure, ad);
    const events = [
      ...items(1, `t1.${'A'.repeat(100)}`),
      ...items(1),
      { token: mint(undefined, 'evt', other), event: 'complete', at: '2026-11-21T10:00:00Z' },
    ];
    expect((await post('/delivery/v1/ev', { events })).status).toBe(204);
    await until(() => factsOf(served).length === 1 && factsOf(other).length === 1);
    expect(factsOf(other)[0]).toMatchObject({ event: 'complete', sequence: 0, reported_at: '2026-11-21T10:00:00Z' });
  });

  test.each([
    ['no list', {}, 400],
    ['nothing', { events: [] }, 400],
    ['51 reports', { events: items(51, 'x') }, 400],
    ['a field of another making', { events: [{ token: 'x', event: 'start', price: 1 }] }, 400],
    ['more than 32 KiB', { events: [{ token: 'x'.repeat(33_000), event: 'start' }] }, 413],
  ])('of %s is refused', async (_what, body, status) => {
    expect((await post('/delivery/v1/ev', body)).status).toBe(status);
  });

  test('is not read', async () => {
    const { status, headers } = await ask('/delivery/v1/ev', served.listener);
    expect([status, headers.allow]).toEqual([405, 'POST, OPTIONS']);
  });
});

test('one report has at most 1 KiB, also without a Content-Length', async () => {
  const body = JSON.stringify({ event: 'start', at: 'x'.repeat(1_100) });
  expect((await ask(at(token), served.listener, 'POST', body)).status).toBe(413);
  const chunked = { ...served.listener, 'transfer-encoding': 'chunked' };
  expect((await ask(at(token), chunked, 'POST', body)).status).toBe(413);
});

test.each<[string, Record<string, string>, string]>([
  ['HEAD', {}, 'HEAD'],
  ['an announced prefetch', { 'sec-purpose': 'prefetch' }, 'GET'],
  ['our own address', { 'x-forwarded-for': '192.0.2.7' }, 'GET'],
  ['our own agent', { 'user-agent': 'Longwave/1.0 (podcast hosting)' }, 'GET'],
])('%s is answered alike and reports nothing', async (_what, headers, method) => {
  const first = seen(await ask(at(token, '?e=start'), { ...served.listener, ...headers }, method));
  await settled();
  expect(factsOf(served)).toEqual([]);
  expect(first).toEqual(seen(await ask(at(token, '?e=start'), served.listener)));
});

test('any page may report, after a preflight that names the allowed headers', async () => {
  const origin = { origin: 'https://player.example', 'access-control-request-method': 'POST' };
  const { status, headers } = await ask(at(token), { ...served.listener, ...origin }, 'OPTIONS');
  expect([status, headers['access-control-allow-methods'], headers['access-control-allow-origin']]).toEqual([
    204,
    'GET, HEAD, POST, OPTIONS',
    '*',
  ]);
  expect(headers['access-control-allow-headers']).toContain('Content-Type');
  const beacon = { ...served.listener, ...origin, 'content-type': 'text/plain;charset=UTF-8' };
  const answer = await ask(at(token), beacon, 'POST', '{"event":"start"}');
  expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([204, '*']);
  expect((await ask('/delivery/v1/contract', {}, 'OPTIONS')).headers['access-control-allow-methods']).toBe(
    'GET, HEAD, OPTIONS',
  );
});

test('no token that was sent is in any line of the log', async () => {
  await ask(at(token, '?e=start'), served.listener);
  await post('/delivery/v1/ev', { events: [{ token, event: 'start' }] });
  await settled();
  expect(bench.logLines.some((line) => line.includes('delivery_event.receive'))).toBe(true);
  expect(bench.logLines.join('\n')).not.toMatch(/t1\.[A-Za-z0-9_-]{40}/);
});
