import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { createReceiptSigner, publicReceiptKey, receiptHash } from '@longwave/command-pipeline';
import { exportLine } from '@longwave/command-pipeline/receipts';
import { bareEnvironment } from '@longwave/test-kit';
import { exportJWK, generateKeyPair } from 'jose';

const script = path.resolve(import.meta.dirname, '../src/main.ts');
const folder = mkdtempSync(path.join(tmpdir(), 'longwave-receipts-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string) => {
  const at = path.join(folder, name);
  writeFileSync(at, text);
  return at;
};
function verify(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'receipts', ...args], {
    encoding: 'utf8',
    env: bareEnvironment,
  });
  return { status, stderr, found: stdout.startsWith('{') ? (JSON.parse(stdout) as unknown) : stdout };
}

const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
const key = { ...(await exportJWK(privateKey)), kid: 'receipts-1' };
const sign = createReceiptSigner(key);
const lines: string[] = [];
let prev = '0'.repeat(64);
for (let seq = 1; seq <= 3; seq++) {
  const jws = await sign({
    id: `rcp_${seq}`,
    workspace_id: 'ws_1',
    kind: 'command',
    operation_id: `op_${seq}`,
    command_type: 'advertiser.create',
    subject: { type: 'advertisers', id: 'adv_1', version_before: 0, version_after: 1, digest_after: 'd'.repeat(64) },
    payload_digest: 'e'.repeat(64),
    client_id: 'crd_1',
    accepted_at: '2026-11-23T12:00:00.000Z',
    proves: 'acceptance',
    chain: { seq, prev },
  });
  lines.push(exportLine({ seq, id: `rcp_${seq}`, jws }));
  prev = receiptHash(jws);
}
const keys = file('keys.json', JSON.stringify({ keys: [publicReceiptKey(key)] }));

test('receipts verify answers 0 for a whole chain, and 1 with the first broken link for another', () => {
  const whole = verify('verify', file('chain.jsonl', lines.join('')), '--keys', keys);
  expect(whole).toEqual({
    status: 0,
    stderr: '',
    found: { whole: true, workspace_id: 'ws_1', receipts: 3, head: prev },
  });
  const broken = verify('verify', file('broken.jsonl', lines[0]! + lines[2]!), '--keys', keys);
  expect(broken).toEqual({
    status: 1,
    stderr: '',
    found: { whole: false, seq: 2, problem: 'receipt 2: it states place 3' },
  });
});

test('receipts verify ignores empty lines, as programs write them after each page', () => {
  const paged = `${lines[0]!}\n${lines[1]!}${lines[2]!}\n`;
  expect(verify('verify', file('paged.jsonl', paged), '--keys', keys)).toMatchObject({
    status: 0,
    found: { whole: true, receipts: 3 },
  });
});

test('receipts verify checks nothing when an input is a saved refusal or of another form: that is no broken chain', () => {
  const chain = file('chain.jsonl', lines.join(''));
  const detail = 'There is no checkpoint of this chain yet: one is made hourly.';
  const refusal = file('refusal.json', JSON.stringify({ status: 404, code: 'not_found', detail, trace_id: 't' }));
  const explained = {
    status: 2,
    found: '',
    stderr: expect.stringContaining(`the answer to a refused request: ${detail}`),
  };
  expect(verify('verify', chain, '--keys', keys, '--checkpoint', refusal)).toEqual(explained);
  expect(verify('verify', refusal, '--keys', keys)).toEqual(explained);
  expect(verify('verify', chain, '--keys', refusal)).toEqual(explained);
  expect(verify('verify', chain, '--keys', keys, '--checkpoint', file('empty.json', ''))).toMatchObject({ status: 2 });
});

test('receipts verify says what is wrong with its command line, and reads no keys from elsewhere', () => {
  expect(verify('verify')).toMatchObject({ status: 2, found: '' });
  expect(verify('verify', path.join(folder, 'chain.jsonl')).stderr).toContain('--keys is missing.');
  expect(verify('verify', path.join(folder, 'nowhere.jsonl'), '--keys', keys)).toMatchObject({ status: 2, found: '' });
  expect(verify('--help')).toMatchObject({ status: 0 });
});
