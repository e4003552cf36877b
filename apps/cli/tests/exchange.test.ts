import { createPrivateKey } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createReceiptSigner, publicReceiptKey } from '@longwave/command-pipeline';
import { messageDigestOf, signMessage } from '@longwave/exchange-messages';
import { jcsDigest } from '@longwave/idempotency';
import { newId } from '@longwave/ids';
import { calculateJwkThumbprint, compactVerify, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { measureFile } from '../src/exchange/master-file.ts';
import { exchangeFolder } from './_exchange-folder.ts';

const { folder, file, exchange } = exchangeFolder();
const [workspaceId, authorityId, kid] = [newId('ws'), newId('agr'), newId('key')];
const registration = ['--workspace-id', workspaceId, '--authority-id', authorityId];

describe('exchange key new', () => {
  test('writes the private half for its owner alone, and prints the public half with a proof by the key', async () => {
    const { status, found } = exchange('key', 'new', 'key.json', ...registration);
    expect(status).toBe(0);
    const { jwk, proof } = found as { jwk: JWK; proof: string };
    expect(statSync(path.join(folder, 'key.json')).mode & 0o777).toBe(0o600);
    const { d, ...publicHalf } = JSON.parse(readFileSync(path.join(folder, 'key.json'), 'utf8')) as JWK;
    expect([jwk, d]).toEqual([publicHalf, expect.any(String)]);
    const { payload, protectedHeader } = await compactVerify(proof, await importJWK(jwk, 'EdDSA'));
    expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'key-proof+jwt' });
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual({
      ...{ workspace_id: workspaceId, authority_id: authorityId, jkt: await calculateJwkThumbprint(jwk) },
      ...{ nonce: expect.stringMatching(/^[\w-]{16,}$/), iat: expect.any(Number) },
    });
  });

  test('never overwrites a key', () => {
    const at = file('there.json', 'kept');
    expect(exchange('key', 'new', at, ...registration)).toMatchObject({ status: 2, found: '' });
    expect(readFileSync(at, 'utf8')).toBe('kept');
  });
});

describe('exchange verify', () => {
  const signer = newKey();
  const receiptKey = newKey('receipts-1');

  /** A stream of one alias, with the receipt that management gives for it. */
  async function exported() {
    const body = {
      ...{ alias: 'one', host: 'northern', path_slug: 'one', target: { type: 'episode', source_id: 'ep-1' } },
      route_policy: { surface_id: 'web', route: 'platform_controlled', when_unavailable: 'source' },
      ...{ state: 'active', supersedes_version: null },
    };
    const payload = {
      ...{ schema: 'delivery-alias/1', workspace_id: workspaceId, authority_id: authorityId, stream_id: 'show:1234' },
      ...{ seq: 1, prev: null, subject: { type: 'alias', source_id: 'one', source_version: 1 } },
      ...{ event_id: '0b6f8f5e-3c2e-4a8e-9d51-2f6a54f0c1aa', issued_at: '2026-11-25T12:00:00Z', body },
    };
    const privateKey = createPrivateKey({ key: await signer, format: 'jwk' });
    const envelope = signMessage(JSON.stringify(payload), privateKey, kid);
    const digest = messageDigestOf(envelope.protected, envelope.payload);
    const changes = {
      ...{ authority_id: authorityId, signed_by: kid, stream_id: 'show:1234', sequence: 1, message_digest: digest },
      ...{ source_id: 'one', source_version: 1, alias: body },
    };
    const subject = { type: 'delivery_aliases', id: newId('dal') };
    const receipt = { id: newId('rcp'), operation_id: newId('op'), jws: '' };
    receipt.jws = await createReceiptSigner(await receiptKey)({
      ...{ id: receipt.id, workspace_id: workspaceId, kind: 'command', operation_id: receipt.operation_id },
      ...{ command_type: 'delivery_alias.register', subject: { ...subject, version_before: 0, version_after: 1 } },
      payload_digest: jcsDigest({ changes, reason: null, subject: { ...subject, id: null, version: null } }),
      ...{ client_id: 'hosting-exchange', accepted_at: '2026-11-25T12:00:01.000Z', proves: 'acceptance' },
      chain: { seq: 1, prev: '0'.repeat(64) },
    });
    const stored = {
      ...envelope,
      sequence: 1,
      digest,
      receipt_id: receipt.id,
      accepted_at: '2026-11-25T12:00:01.000Z',
    };
    return { line: `${JSON.stringify({ ...stored, receipt })}\n`, digest };
  }

  test('answers 0 for a whole stream, 1 with the first broken link for another, 2 where nothing was checked', async () => {
    const { line, digest } = await exported();
    const { d: _d, ...half } = await signer;
    const keys = file('keys.json', { keys: [publicReceiptKey(await receiptKey)] });
    const verify = (text: string) =>
      exchange(
        ...['verify', file('stream.jsonl', text), '--keys', keys, '--signers', `${kid}=${file('half.json', half)}`],
      );
    expect(verify(line)).toEqual({
      ...{ status: 0, stderr: '' },
      found: { whole: true, stream_id: 'show:1234', messages: 1, head: digest },
    });
    const changed = line.replace(digest, `sha256:${'0'.repeat(64)}`);
    expect(verify(changed)).toEqual({
      ...{ status: 1, stderr: '' },
      found: { whole: false, sequence: 1, problem: 'message 1: its digest is not that of its bytes' },
    });
    expect(verify('no JSON')).toMatchObject({ status: 2, found: '' });
  });
});

async function newKey(name?: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  return { ...(await exportJWK(privateKey)), ...(name !== undefined && { kid: name }) };
}

test('the length and digest of a master are those of its bytes', async () => {
  expect(await measureFile(file('master.mp3', 'abc'))).toEqual({
    ...{ bytes: 3, digest: 'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' },
  });
  await expect(measureFile(path.join(folder, 'missing.mp3'))).rejects.toThrow('missing.mp3 cannot be read');
});

test.each<[string, string[], string]>([
  ['an unknown command', ['snapshots'], 'There is no command “exchange snapshots”. Did you mean “snapshot”?'],
  ['a missing file', ['snapshot', '--stream', 'show:1', '--source', 'ep-1'], 'FILE.json is missing.'],
  ['a missing option', ['revoke', '--stream', 'show:1'], '--source is missing.'],
  ['settings that are missing', ['head', 'show:1'], '--api-url (“api_url”)'],
])('%s is a wrong usage, with the usage that was meant', (_what, args, problem) => {
  const { status, stderr, found } = exchange(...args);
  expect([status, found]).toEqual([2, '']);
  expect(stderr).toContain(problem);
  expect(stderr).toContain('usage: npx longwave exchange');
});

test('a setting that the file does not have is named, and a secret is never shown', () => {
  const config = file('exchange.json', { api_url: 'https://api.example', client_secret: 'hidden', colour: 'red' });
  const { status, stderr } = exchange('head', 'show:1', '--config', config);
  expect(status).toBe(2);
  expect(stderr).toContain('colour');
  expect(stderr).not.toContain('hidden');
});
