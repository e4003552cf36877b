import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  createCheckpointSigner,
  keepReceiptKeys,
  makeCheckpoint,
  publicReceiptKey,
  type ReceiptKeys,
} from '@longwave/command-pipeline';
import { verifyChain } from '@longwave/command-pipeline/receipts';
import { until } from '@longwave/test-kit';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { serveHttp } from './_http.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { hour } from './_values.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  management = stack.use(await startTestManagement());
});
afterAll(() => stack.disposeAsync());

async function newKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid };
}

/** The published keys of a process that signs with a key, once it has read those before; those of another service may come later. */
async function keysOf(present: JWK, findFurther?: () => Promise<readonly JWK[]>): Promise<ReceiptKeys> {
  const keys = keepReceiptKeys({
    pool: management.pool,
    present: () => publicReceiptKey(present),
    ...(findFurther && { findFurther }),
    onError: () => undefined,
  });
  await keys.ready;
  return keys;
}

test('after a rotation the published keys verify the whole chain, and a receipt of an unknown key is named', async () => {
  const { pool, receiptKey: first, clock } = management;
  const second = await newKey('test-2');
  const world = createWorld(management);
  const token = async (api: Awaited<ReturnType<typeof serveHttp>>) => api.tokenFor(world.actor);
  const at = `/workspaces/${world.workspaceId}`;
  const signCheckpoint = async (key: JWK, now: Date) =>
    makeCheckpoint({ pool, sign: createCheckpointSigner(key), origin: 'http://api.test', everyMs: hour, now });
  let early: unknown;
  {
    await using keys = await keysOf(first);
    await using api = await serveHttp(management, {}, { receiptKeys: keys });
    await world.podcast();
    await signCheckpoint(first, clock());
    early = (await api.call(`${at}/checkpoint`, { token: await token(api) })).json;
    expect((await api.call('/keys')).json.keys).toEqual([publicReceiptKey(first)]);
  }

  const rotated: TestManagement = {
    ...management,
    execute: await management.executeSignedBy(second),
    receiptKey: second,
  };
  await using keys = await keysOf(second);
  await using api = await serveHttp(rotated, {}, { receiptKeys: keys });
  await createWorld(rotated, world.workspaceId).podcast();
  await signCheckpoint(second, new Date(clock().getTime() + 2 * hour));
  const published = (await api.call('/keys')).json.keys as JWK[];
  expect(published).toEqual([publicReceiptKey(second), publicReceiptKey(first)]);
  const { text } = await api.call(`${at}/receipts`, { token: await token(api) });
  const late = (await api.call(`${at}/checkpoint`, { token: await token(api) })).json;
  for (const checkpoint of [undefined, early, late])
    expect(await verifyChain(text, published, checkpoint)).toMatchObject({ ok: true, receipts: 2 });
  expect(await verifyChain(text, [publicReceiptKey(second)])).toEqual({
    ok: false,
    seq: 1,
    problem: 'receipt 1: it is signed by an unknown key, “test-1”',
  });
  expect(await verifyChain(text, [publicReceiptKey(first)])).toMatchObject({
    seq: 2,
    problem: 'receipt 2: it is signed by an unknown key, “test-2”',
  });
});

test('a new key under the name of the old one replaces nothing: both stay published, and both verify', async () => {
  const same = await newKey('test-1');
  const world = createWorld(management);
  await world.podcast();
  const rotated = { ...management, execute: await management.executeSignedBy(same) };
  await using keys = await keysOf(same);
  await createWorld(rotated, world.workspaceId).podcast();
  await using api = await serveHttp(rotated, {}, { receiptKeys: keys });
  const published = (await api.call('/keys')).json.keys as JWK[];
  expect(published.filter(({ kid }) => kid === 'test-1')).toHaveLength(2);
  const { text } = await api.call(`/workspaces/${world.workspaceId}/receipts`, { token: api.tokenFor(world.actor) });
  expect(await verifyChain(text, published)).toMatchObject({ ok: true, receipts: 2 });
});

test('keys of another service are published too, and stay so while it does not answer', async () => {
  const present = await newKey('test-3');
  const further = publicReceiptKey(await newKey('authority-1'));
  {
    await using keys = await keysOf(present, async () => [further]);
    await until('the other key', async () => keys.isComplete());
    expect(keys.list()).toContainEqual(further);
  }
  await using keys = await keysOf(present, async () => Promise.reject(new Error('it is away')));
  expect(keys.list()[0]).toEqual(publicReceiptKey(present));
  expect(keys.list()).toContainEqual(further);
});

test('the list is complete at the first request, and is not to be kept while the keys of the other service are unknown', async () => {
  {
    await using _keys = await keysOf(await newKey('test-5'));
  }
  const further = publicReceiptKey(await newKey('authority-2'));
  const answer = Promise.withResolvers<readonly JWK[]>();
  await using keys = await keysOf(await newKey('test-6'), () => answer.promise);
  await using api = await serveHttp(management, {}, { receiptKeys: keys });
  const read = async () => {
    const { json, headers } = await api.call('/keys');
    return { kids: (json.keys as JWK[]).map(({ kid }) => kid), kept: headers.get('cache-control') };
  };
  const early = await read();
  expect(early.kids).toEqual(expect.arrayContaining(['test-6', 'test-5']));
  expect([early.kids.includes(further.kid), early.kept]).toEqual([false, 'no-store']);
  answer.resolve([further]);
  const late = await until('the other keys', async () => {
    const found = await read();
    return found.kept === 'no-store' ? undefined : found;
  });
  expect([late.kids.includes(further.kid), late.kept]).toEqual([true, 'public, max-age=300']);
});

test('no role takes a key out of the list, or changes it', async () => {
  await using _keys = await keysOf(await newKey('test-4'));
  for (const sql of ['delete from receipt_key', `update receipt_key set x = 'other'`, 'truncate receipt_key'])
    await expect(management.pool.query(sql)).rejects.toMatchObject({ code: expect.stringMatching(/^(23001|42501)$/) });
});
