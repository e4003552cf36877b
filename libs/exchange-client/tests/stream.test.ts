import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  createExchangeClient,
  ExchangeUnreachable,
  InvalidMessage,
  MessageRefusal,
  type Draft,
  type SignedMessage,
} from '../src/index.ts';
import { revocationBody, snapshotBody, startExchange, type ExchangeUnderTest, type Fault } from './_exchange.ts';

let exchange: ExchangeUnderTest;
beforeEach(async () => {
  exchange = await startExchange();
});
afterEach(() => exchange[Symbol.asyncDispose]());

const streamId = 'show:1234';
const open = (more: Partial<Parameters<typeof createExchangeClient>[0]> = {}) =>
  createExchangeClient({ ...exchange.client, ...more } as Parameters<typeof createExchangeClient>[0]).stream(streamId);
const draft = (sourceVersion: number, sourceId = 'ep-1'): Draft => ({
  ...{ schema: 'content-snapshot/1', sourceId, sourceVersion, body: snapshotBody(`Version ${sourceVersion}`) },
});
const drafts = (count: number) => Array.from({ length: count }, (_, index) => draft(index + 1));
const stored = () => exchange.streams.get(streamId) ?? [];
const sequences = () => stored().map(({ sequence }) => sequence);

test('messages are signed, chained from the first, and answered with receipts', async () => {
  const stream = await open();
  const first = await stream.snapshot({ sourceId: 'ep-1', sourceVersion: 1 }, snapshotBody());
  const second = await stream.revoke({ sourceId: 'ep-1', sourceVersion: 2 }, revocationBody);
  expect([first, second]).toMatchObject([
    { sequence: 1, status: 'accepted', receipt_id: expect.stringMatching(/^rcp_/) },
    { sequence: 2, status: 'accepted' },
  ]);
  expect(stored().map(({ message }) => message.prev)).toEqual([null, first.digest]);
});

test('a restarted sender goes on where the exchange stands', async () => {
  await (await open()).append(drafts(2));
  const stream = await open();
  expect(stream.place()).toMatchObject({ sequence: 2 });
  await stream.append([draft(3)]);
  expect(sequences()).toEqual([1, 2, 3]);
});

test('a message is never issued before the one before it, although the clock goes back', async () => {
  await (await open({ now: () => new Date('2026-11-25T12:00:00.500Z') })).append([draft(1)]);
  await (await open({ now: () => new Date('2026-11-25T11:00:00.000Z') })).append([draft(2)]);
  expect(stored().map(({ message }) => message.issued_at)).toEqual([
    '2026-11-25T12:00:00.500Z',
    '2026-11-25T12:00:00.500Z',
  ]);
});

test('many messages go in requests of at most 100, in order', async () => {
  const results = await (await open()).append(drafts(250));
  expect(results.map(({ sequence }) => sequence)).toEqual(sequences());
  const sizes = exchange.seen.posts.map(({ body }) => (JSON.parse(body) as { messages: object[] }).messages.length);
  expect(sizes).toEqual([100, 100, 50]);
});

test('appends at the same time take their places one after another', async () => {
  const stream = await open();
  await Promise.all(drafts(5).map((each) => stream.append([each])));
  expect(sequences()).toEqual([1, 2, 3, 4, 5]);
});

describe.each<Fault>(['lost_request', 'lost_answer', 500, 503, 429])('after %s', (fault) => {
  test('the same bytes are sent again with the same key, and nothing happens twice', async () => {
    const stream = await open();
    exchange.faults.push(fault, fault);
    const [result] = await stream.append([draft(1)]);
    expect(result).toMatchObject({ sequence: 1 });
    const { posts } = exchange.seen;
    expect(posts).toHaveLength(3);
    expect(new Set(posts.map(({ key, body }) => key + body)).size).toBe(1);
    expect(sequences()).toEqual([1]);
  });

  test('to the end, the next append settles the unanswered messages first, unchanged', async () => {
    const stream = await open();
    exchange.faults.push(...Array<Fault>(4).fill(fault));
    await expect(stream.append([draft(1)])).rejects.toBeInstanceOf(ExchangeUnreachable);
    const [unanswered] = exchange.seen.posts;
    const [result] = await stream.append([draft(2)]);
    expect(result).toMatchObject({ sequence: 2, status: 'accepted' });
    expect(exchange.seen.posts.at(-2)).toEqual(unanswered);
    expect(sequences()).toEqual([1, 2]);
  });
});

test('after an answer was lost to the end, settle() says what became of the messages', async () => {
  const stream = await open();
  exchange.faults.push(...Array<Fault>(4).fill('lost_answer'));
  await expect(stream.append(drafts(2))).rejects.toBeInstanceOf(ExchangeUnreachable);
  expect(await stream.settle()).toMatchObject([{ sequence: 1 }, { sequence: 2 }]);
  expect(await stream.settle()).toEqual([]);
});

test('messages that were kept before a crash are sent again by submit, and answer with their first receipts', async () => {
  const kept: SignedMessage[] = [];
  const before = await open({ onSigned: (messages) => void kept.push(...messages) });
  const first = await before.append(drafts(3));
  const restarted = await open();
  expect(await restarted.submit(kept)).toEqual(first);
  const some = await restarted.submit(kept.slice(1));
  expect(some).toEqual(first.slice(1).map((result) => ({ ...result, status: 'replayed' })));
  expect(sequences()).toEqual([1, 2, 3]);
});

test('a refused message ends the batch: those before it are accepted, and the next one takes its place', async () => {
  const stream = await open();
  const refusal = await stream.append([draft(1), draft(2), draft(2), draft(3)]).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(MessageRefusal);
  expect(refusal).toMatchObject({
    ...{ code: 'source_version_regression', refused: { sequence: 3 } },
    results: [{ sequence: 1 }, { sequence: 2 }],
  });
  expect(await stream.append([draft(3)])).toMatchObject([{ sequence: 3, status: 'accepted' }]);
});

test('a sender behind another one hears what the exchange expected, and is right again at its next append', async () => {
  const [one, other] = [await open(), await open()];
  await one.append([draft(1)]);
  await expect(other.append([draft(1, 'ep-2')])).rejects.toMatchObject({ code: 'changed_duplicate' });
  expect(await other.append([draft(1, 'ep-2')])).toMatchObject([{ sequence: 2, status: 'accepted' }]);
});

test('the text of a gap names the place and the predecessor that the exchange expected', async () => {
  const kept: SignedMessage[] = [];
  await (await open({ onSigned: (messages) => void kept.push(...messages) })).append(drafts(3));
  exchange.streams.get(streamId)!.splice(1);
  const [first] = kept;
  await expect((await open()).submit([{ ...kept[2]! }])).rejects.toThrow(
    `(chain_gap; expected seq 2, expected prev ${first!.digest})`,
  );
});

test('a draft that the exchange would refuse is refused before it takes a place', async () => {
  const stream = await open();
  const body = snapshotBody();
  const wrong = {
    ...body,
    episode: { ...body.episode, markers: [{ key: 'm', position_ms: 70_000, kind: 'mid' as const }] },
  };
  await expect(stream.snapshot({ sourceId: 'ep-1', sourceVersion: 1 }, wrong)).rejects.toBeInstanceOf(InvalidMessage);
  expect(exchange.seen.posts).toEqual([]);
  expect(await stream.append([draft(1)])).toMatchObject([{ sequence: 1 }]);
});

describe('the token', () => {
  test('is asked for once and kept', async () => {
    const stream = await open();
    await Promise.all(drafts(3).map((each) => stream.append([each])));
    expect(exchange.seen.tokens).toBe(1);
  });

  test('is renewed when it nears its end, and when the exchange refuses it', async () => {
    const stream = await open();
    exchange.endTokens();
    await stream.append([draft(1)]);
    expect(exchange.seen.tokens).toBe(2);
    exchange.setTokenSeconds(10);
    const short = await open();
    await short.append([draft(2)]);
    expect(exchange.seen.tokens).toBe(4);
  });

  test.each<[string, object | ((origin: string) => object), string]>([
    ['a wrong secret', { clientSecret: 'wrong' }, 'The client id or its secret is wrong (invalid_client).'],
    ['a wrong id', { clientId: 'southern-dark' }, 'The client id or its secret is wrong (invalid_client).'],
    ['another page', (origin: string) => ({ tokenUrl: `${origin}/page` }), '/page is not a token endpoint.'],
    [
      'another API',
      (origin: string) => ({ tokenUrl: `${origin}/hosting-exchange/v1/keys` }),
      '/keys is not a token end',
    ],
    ['no https', { tokenUrl: 'http://host.invalid/token' }, 'http://host.invalid/token is not an https address.'],
  ])('that %s does not get is an error at once, in a sentence', async (_what, wrong, problem) => {
    const more = typeof wrong === 'function' ? wrong(exchange.origin) : wrong;
    await expect(open(more)).rejects.toThrow(problem);
    expect(exchange.seen.tokens).toBe(0);
  });
});

test('each wait is told with its reason, and the last error names the address that does not answer', async () => {
  const told: string[] = [];
  const retry = { ...exchange.client.retry, onWait: (problem: string) => void told.push(problem) };
  exchange.faults.push(503);
  await (await open({ retry })).append([draft(1)]);
  const baseUrl = `${exchange.origin}/hosting-exchange/v1`;
  expect(told.splice(0)).toEqual([`The exchange at ${baseUrl} is busy: it answered 503.`]);
  const silent = 'http://127.0.0.1:1';
  await expect(open({ retry, apiUrl: silent, fetch: answeringTokens })).rejects.toThrow(
    `The exchange at ${silent}/hosting-exchange/v1 does not answer.`,
  );
  expect(told).toHaveLength(3);
  await expect(open({ retry, tokenUrl: `${silent}/token` })).rejects.toThrow(
    `The authorization server at ${silent}/token does not answer.`,
  );
});

/** Gives a token for any resource. */
const answeringTokens: typeof fetch = (input, init) =>
  init?.method === 'POST'
    ? Promise.resolve(Response.json({ access_token: 't', token_type: 'Bearer', expires_in: 600 }))
    : fetch(input, init);

test('with signsRequests each request that writes has a signature of its own (RFC 9421)', async () => {
  await (await open()).append([draft(1)]);
  exchange.faults.push(503);
  await (await open({ signsRequests: true })).append([draft(2)]);
  expect(exchange.seen.signed).toEqual([false, true, true]);
});
