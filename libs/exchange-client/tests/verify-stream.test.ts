import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCheckpointSigner } from '@longwave/command-pipeline';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import type { JWK } from 'jose';
import { createExchangeClient, newMachineKey, publicHalf, verifyStream, type ExportedStream } from '../src/index.ts';
import { revocationBody, snapshotBody, startExchange, type ExchangeUnderTest } from './_exchange.ts';

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
type Hash = ReturnType<typeof sha256>;

/** The Merkle Tree Hash and the audit path, as RFC 6962 §2.1 defines them: by halves. */
function treeHash(leaves: readonly Hash[]): Hash {
  if (leaves.length === 1) return leaves[0]!;
  const half = halfOf(leaves.length);
  return sha256(Buffer.of(1), treeHash(leaves.slice(0, half)), treeHash(leaves.slice(half)));
}
function auditPath(leaves: readonly Hash[], index: number): Hash[] {
  if (leaves.length === 1) return [];
  const half = halfOf(leaves.length);
  const [left, right] = [leaves.slice(0, half), leaves.slice(half)];
  return index < half
    ? [...auditPath(left, index), treeHash(right)]
    : [...auditPath(right, index - half), treeHash(left)];
}
const halfOf = (count: number) => 2 ** (Math.ceil(Math.log2(count)) - 1);

let exchange: ExchangeUnderTest;
let exported: Omit<ExportedStream, 'messages'> & { readonly messages: readonly Readonly<Record<string, unknown>>[] };
let signer: JWK;
beforeAll(async () => {
  exchange = await startExchange();
  const client = createExchangeClient(exchange.client);
  const stream = await client.stream('show:1234');
  await stream.snapshot({ sourceId: 'ep-1', sourceVersion: 1 }, { ...snapshotBody(), x: { show_rank: 3 } });
  await stream.alias(1, {
    ...{ alias: 'one', host: 'northern', path_slug: 'one', target: { type: 'episode', source_id: 'ep-1' } },
    route_policy: { surface_id: 'web', route: 'platform_controlled', when_unavailable: 'source' },
    ...{ state: 'active', supersedes_version: null },
  });
  await stream.revoke({ sourceId: 'ep-1', sourceVersion: 2 }, revocationBody);
  signer = { ...publicHalf(exchange.key.privateJwk), kid: exchange.key.kid };
  const items = [];
  for await (const item of client.exportStream('show:1234')) items.push(item);
  exported = {
    messages: items.map(({ receipt: _receipt, ...message }) => message),
    receipts: items.map(({ receipt }) => receipt),
    signers: [signer],
    keys: await client.keys(),
  };
});
afterAll(() => exchange[Symbol.asyncDispose]());

/** A checkpoint that contains the workspace's chain as one of some. */
async function checkpointOf(size: number, index: number, head = exchange.receiptHead(), key = exchange.receiptKey) {
  const leaf = sha256(Buffer.of(0), Buffer.from(canonicalize(head)!));
  const leaves = Array.from({ length: size }, (_, at) => (at === index ? leaf : sha256(Buffer.from(String(at)))));
  const checkpoint = await createCheckpointSigner(key)({
    ...{ origin: 'https://api.example/management/v1', number: 1, size, root: treeHash(leaves).toString('hex') },
    ...{ prev: '0'.repeat(64), issued_at: '2026-11-25T13:00:00.000Z' },
  });
  return {
    checkpoint,
    ...head,
    leaf_index: index,
    proof: auditPath(leaves, index).map((each) => each.toString('hex')),
  };
}

test('a whole stream is verified without the service', async () => {
  expect(await verifyStream(exported)).toEqual({
    ...{ ok: true, streamId: 'show:1234', messages: 3, head: exported.messages[2]!['digest'] },
  });
});

test('a checkpoint of any number of workspaces covers the receipts up to its head', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.nat(39), async (size, at) => {
      const checkpoint = await checkpointOf(size, at % size);
      expect(await verifyStream({ ...exported, checkpoint })).toMatchObject({ ok: true, underCheckpoint: 3 });
    }),
    { numRuns: 40 },
  );
  const early = await checkpointOf(3, 1, { ...exchange.receiptHead(), seq: 2, head: hashOfReceipt(1) });
  expect(await verifyStream({ ...exported, checkpoint: early })).toMatchObject({ ok: true, underCheckpoint: 2 });
});

const hashOfReceipt = (index: number) => createHash('sha256').update(exported.receipts[index]!.jws).digest('hex');

/** The export with one message changed. */
const withMessage = (index: number, change: Readonly<Record<string, unknown>>): ExportedStream => ({
  ...exported,
  messages: exported.messages.map((each, at) => (at === index ? { ...each, ...change } : each)),
});
const flipped = (text: unknown) => `${String(text).startsWith('A') ? 'B' : 'A'}${String(text).slice(1)}`;
const otherPayload = (index: number, change: object) =>
  Buffer.from(
    JSON.stringify({
      ...(JSON.parse(Buffer.from(String(exported.messages[index]!['payload']), 'base64url').toString()) as object),
      ...change,
    }),
  ).toString('base64url');

describe('the first broken link is named', () => {
  test.each<[string, () => ExportedStream | Promise<ExportedStream>, number | null, string]>([
    ['no message', () => ({ ...exported, messages: [] }), 1, 'message 1: it is missing'],
    [
      'a missing message',
      () => ({ ...exported, messages: exported.messages.slice(1) }),
      1,
      'message 1: it states place 2',
    ],
    [
      'a swapped pair',
      () => ({ ...exported, messages: exported.messages.toReversed() }),
      1,
      'message 1: it states place 3',
    ],
    [
      'a changed signature',
      () => withMessage(1, { signature: flipped(exported.messages[1]!['signature']) }),
      2,
      'message 2: its signature is not valid',
    ],
    [
      'a changed payload',
      () => withMessage(2, { payload: otherPayload(2, { seq: 3 }).replace(/.$/, 'A') }),
      3,
      'message 3: ',
    ],
    [
      'another payload',
      () => withMessage(2, { payload: otherPayload(2, { seq: 9 }) }),
      3,
      'message 3: its signature is not valid',
    ],
    [
      'another digest',
      () => withMessage(1, { digest: `sha256:${'0'.repeat(64)}` }),
      2,
      'message 2: its digest is not that of its bytes',
    ],
    ['an unknown signer', () => ({ ...exported, signers: [] }), 1, 'message 1: it is signed by an unknown key'],
    [
      'another key under the name of the signer',
      async () => ({ ...exported, signers: [{ ...publicHalf(await newMachineKey()), kid: signer.kid! }] }),
      1,
      'message 1: its signature is not valid',
    ],
    [
      'a missing receipt',
      () => ({ ...exported, receipts: exported.receipts.slice(0, 1) }),
      2,
      'message 2: its receipt',
    ],
    [
      'the receipt of another message',
      () => ({
        ...exported,
        receipts: exported.receipts.map(({ id }, at) => ({ id, jws: exported.receipts[at === 1 ? 0 : at]!.jws })),
      }),
      2,
      'it is another receipt',
    ],
    [
      'a message under the receipt of another one',
      () => withMessage(1, { receipt_id: exported.receipts[0]!.id }),
      2,
      'it proves another message',
    ],
    [
      'a receipt of another service',
      async () => ({ ...exported, keys: [{ ...publicHalf(await newMachineKey()), kid: 'receipts-1' }] }),
      1,
      'its signature is not valid',
    ],
    [
      'a checkpoint of another service',
      async () => ({
        ...exported,
        checkpoint: await checkpointOf(2, 0, undefined, { ...(await newMachineKey()), kid: 'receipts-1' }),
      }),
      null,
      'checkpoint: its signature is not valid',
    ],
    [
      'a checkpoint with another proof',
      async () => ({ ...exported, checkpoint: { ...(await checkpointOf(4, 2)), leaf_index: 1 } }),
      null,
      'checkpoint: its proof does not lead to the signed root',
    ],
    [
      'a checkpoint that contains another receipt',
      async () => ({
        ...exported,
        checkpoint: await checkpointOf(2, 1, { ...exchange.receiptHead(), head: 'f'.repeat(64) }),
      }),
      3,
      'its receipt is not the one that the checkpoint contains',
    ],
    [
      'a checkpoint of another workspace',
      async () => ({
        ...exported,
        checkpoint: await checkpointOf(2, 1, { ...exchange.receiptHead(), workspace_id: 'ws_other' }),
      }),
      null,
      'checkpoint: it is of another workspace',
    ],
  ])('%s', async (_what, broken, sequence, problem) => {
    const found = await verifyStream(await broken());
    expect(found).toMatchObject({ ok: false, sequence });
    expect(found).toHaveProperty('problem', expect.stringContaining(problem));
  });
});
