import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { compactVerify, exportJWK, generateKeyPair, importJWK } from 'jose';
import { chainStart, receiptHash } from '../receipts/chain.ts';
import { createReceiptSigner, type ReceiptStatement } from './receipt.ts';

const pair = await generateKeyPair('EdDSA', { extractable: true });
const privateJwk = { ...(await exportJWK(pair.privateKey)), kid: 'receipts-1' };
const publicKey = await importJWK(await exportJWK(pair.publicKey), 'EdDSA');
const sign = createReceiptSigner(privateJwk);

const statement = (seq: number, prev: string): ReceiptStatement => ({
  id: `rcp_${seq}`,
  workspace_id: 'ws_1',
  kind: 'command',
  operation_id: `op_${seq}`,
  command_type: 'episode.publish',
  subject: { type: 'episodes', id: 'ep_1', version_before: seq, version_after: seq + 1, digest_after: 'd'.repeat(64) },
  payload_digest: 'e'.repeat(64),
  client_id: 'crd_1',
  accepted_at: '2026-11-21T12:00:00.000Z',
  proves: 'acceptance',
  chain: { seq, prev },
});

test('anyone with the public key can verify a receipt and read exactly what was stated', async () => {
  const { payload, protectedHeader } = await compactVerify(await sign(statement(1, chainStart)), publicKey);
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual(statement(1, chainStart));
  expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'receipt+jwt', kid: 'receipts-1' });
});

test('a changed receipt, or one of another signer, does not verify', async () => {
  const [header, , signature] = (await sign(statement(1, chainStart))).split('.');
  const changed = Buffer.from(JSON.stringify({ ...statement(1, chainStart), client_id: 'crd_2' })).toString(
    'base64url',
  );
  await expect(compactVerify(`${header}.${changed}.${signature}`, publicKey)).rejects.toThrow();
  const stranger = await generateKeyPair('EdDSA', { extractable: true });
  const forged = await createReceiptSigner(await exportJWK(stranger.privateKey))(statement(1, chainStart));
  await expect(compactVerify(forged, publicKey)).rejects.toThrow();
});

test('receipts chain: each names the SHA-256 of the one before, so a removed or exchanged one shows', async () => {
  const first = await sign(statement(1, chainStart));
  const second = await sign(statement(2, receiptHash(first)));
  const third = await sign(statement(3, receiptHash(second)));
  const prevOf = async (jws: string) =>
    (JSON.parse(Buffer.from((await compactVerify(jws, publicKey)).payload).toString()) as ReceiptStatement).chain.prev;
  expect(await prevOf(first)).toBe('0'.repeat(64));
  expect(await prevOf(second)).toBe(createHash('sha256').update(first).digest('hex'));
  expect(await prevOf(third)).not.toBe(receiptHash(first));
});
