import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { createCheckpointSigner, createReceiptSigner, type ReceiptStatement } from '../store/receipt.ts';
import { chainStart, receiptHash } from './chain.ts';
import { exportLine, headTree, verifyChain, type ChainHead, type CheckpointProof } from './verify-chain.ts';

const pair = await generateKeyPair('EdDSA', { extractable: true });
const privateKey: JWK = { ...(await exportJWK(pair.privateKey)), kid: 'receipts-1' };
const keys: JWK[] = [{ ...(await exportJWK(pair.publicKey)), kid: 'receipts-1' }];
const strangerPair = await generateKeyPair('EdDSA', { extractable: true });
const stranger: JWK = { ...(await exportJWK(strangerPair.privateKey)), kid: 'receipts-1' };

const statement = (workspaceId: string, seq: number, prev: string): ReceiptStatement => ({
  id: `rcp_${seq}`,
  workspace_id: workspaceId,
  kind: 'command',
  operation_id: `op_${seq}`,
  command_type: 'advertiser.create',
  subject: { type: 'advertisers', id: 'adv_1', version_before: 0, version_after: 1, digest_after: 'd'.repeat(64) },
  payload_digest: 'e'.repeat(64),
  client_id: 'crd_1',
  policy_versions: [{ id: 'pol_1', version: 2 }],
  review: { declared: 'dual', applied: 'single' },
  accepted_at: '2026-11-23T12:00:00.000Z',
  proves: 'acceptance',
  chain: { seq, prev },
});

/** Lines of a chain of some receipts, and its head. */
async function chain(workspaceId: string, length: number, key = privateKey) {
  const sign = createReceiptSigner(key);
  const lines: string[] = [];
  let prev = chainStart;
  for (let seq = 1; seq <= length; seq++) {
    const jws = await sign(statement(workspaceId, seq, prev));
    lines.push(exportLine({ seq, id: `rcp_${seq}`, jws }));
    prev = receiptHash(jws);
  }
  return { lines, head: { workspace_id: workspaceId, seq: length, head: prev } };
}

const length = 7;
const { lines, head } = await chain('ws_3', length);
const heads = ['ws_1', 'ws_2', 'ws_3', 'ws_4', 'ws_5'].map((workspace_id, i): ChainHead =>
  workspace_id === head.workspace_id ? head : { workspace_id, seq: i + 1, head: String(i).repeat(64) },
);
const tree = await headTree(heads);
const signCheckpoint = createCheckpointSigner(privateKey);
const checkpoint: CheckpointProof = {
  checkpoint: await signCheckpoint({
    origin: 'https://api.example/management/v1',
    number: 1,
    size: heads.length,
    root: tree.root.toString('hex'),
    prev: chainStart,
    issued_at: '2026-11-23T13:00:00.000Z',
  }),
  ...head,
  leaf_index: 2,
  proof: tree.prove(2).map((hash) => hash.toString('hex')),
};
const verify = (changed: readonly string[]) => verifyChain(changed.join(''), keys, checkpoint);
const at = fc.nat({ max: length - 1 });

test('a whole chain is verified, with and without a checkpoint, and also when it went on after the checkpoint', async () => {
  const whole = { ok: true, workspaceId: 'ws_3', receipts: length, head: head.head };
  expect(await verifyChain(lines.join(''), keys)).toEqual(whole);
  expect(await verify(lines)).toEqual(whole);
  const jws = await createReceiptSigner(privateKey)(statement('ws_3', 8, head.head));
  const longer = await verify([...lines, exportLine({ seq: 8, id: 'rcp_8', jws })]);
  expect(longer).toEqual({ ...whole, receipts: 8, head: receiptHash(jws) });
});

test('any change of one character is found, at the receipt whose line has it', async () => {
  const text = lines.join('');
  const others = fc.constantFrom(...'aZ09_-."{}:, \n\u0000é');
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: text.length - 1 }), others, async (place, other) => {
      fc.pre(text[place] !== other);
      const found = await verifyChain(text.slice(0, place) + other + text.slice(place + 1), keys, checkpoint);
      const line = text.slice(0, place).split('\n').length;
      expect(found).toMatchObject({ ok: false, problem: expect.stringContaining(`receipt ${line}:`) });
    }),
    { numRuns: 300 },
  );
});

test('a removed, repeated or exchanged receipt is found at its place', async () => {
  await fc.assert(
    fc.asyncProperty(at, at, async (i, j) => {
      const removed = await verify(lines.toSpliced(i, 1));
      expect(removed).toMatchObject({ ok: false, problem: expect.stringContaining(`receipt ${i + 1}:`) });
      const repeated = await verify(lines.toSpliced(i + 1, 0, lines[i]!));
      expect(repeated).toMatchObject({ ok: false, seq: i + 2 });
      if (i === j) return;
      const exchanged = await verify(lines.with(i, lines[j]!).with(j, lines[i]!));
      expect(exchanged).toMatchObject({ ok: false, seq: Math.min(i, j) + 1 });
    }),
    { numRuns: 50 },
  );
});

test('receipts that are missing at the end are found with a checkpoint, and only with one', async () => {
  for (let kept = 1; kept < length; kept++) {
    const cut = lines.slice(0, kept);
    expect((await verifyChain(cut.join(''), keys)).ok).toBe(true);
    const problem = expect.stringContaining(`receipt ${kept + 1}: it is missing`);
    expect(await verify(cut)).toMatchObject({ ok: false, seq: kept + 1, problem });
  }
  expect(await verify([])).toMatchObject({ ok: false, seq: 1 });
});

test('a chain of another signer, of another workspace or signed anew by the service is refused', async () => {
  const forged = await chain('ws_3', length, stranger);
  expect(await verifyChain(forged.lines.join(''), keys)).toMatchObject({ ok: false, seq: 1 });
  const foreign = await chain('ws_4', length);
  expect(await verify(foreign.lines)).toMatchObject({ ok: false, problem: 'checkpoint: it is of another workspace' });
  const mixed = [...lines.slice(0, 1), ...foreign.lines.slice(1)];
  expect(await verify(mixed)).toMatchObject({ ok: false, seq: 2 });
  // Signed by the right key, but not what the checkpoint contains.
  const before = JSON.parse(lines[length - 2]!) as { jws: string };
  const anew = { ...statement('ws_3', length, receiptHash(before.jws)), client_id: 'crd_2' };
  const jws = await createReceiptSigner(privateKey)(anew);
  const rewritten = lines.with(length - 1, exportLine({ seq: length, id: anew.id, jws }));
  expect((await verifyChain(rewritten.join(''), keys)).ok).toBe(true);
  expect(await verify(rewritten)).toMatchObject({ ok: false, seq: length });
});

test('a checkpoint whose proof, signature or form does not hold is refused', async () => {
  const refused = async (changed: object) =>
    expect(await verifyChain(lines.join(''), keys, { ...checkpoint, ...changed })).toMatchObject({
      ok: false,
      seq: null,
      problem: expect.stringMatching(/^checkpoint: /),
    });
  await refused({ seq: 6 });
  await refused({ leaf_index: 1 });
  await refused({ proof: checkpoint.proof.toReversed() });
  await refused({ proof: [] });
  await refused({ note: 'more' });
  const [head, middle, signature = ''] = checkpoint.checkpoint.split('.');
  const another = signature.startsWith('A') ? 'B' : 'A';
  await refused({ checkpoint: [head, middle, another + signature.slice(1)].join('.') });
  await refused({ checkpoint: (JSON.parse(lines[0]!) as { jws: string }).jws });
});
