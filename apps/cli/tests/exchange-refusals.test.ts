import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ExchangeRefusal, ExchangeUnreachable } from '@longwave/exchange-client';
import { messageDigestOf, signMessage } from '@longwave/exchange-messages';
import { newId } from '@longwave/ids';
import { bareEnvironment } from '@longwave/test-kit';
import { generateKeyPairSync } from 'node:crypto';
import { UsageError } from '../src/command.ts';
import type { ExchangeCommand } from '../src/exchange/exchange-command.ts';
import { explainedFailure } from '../src/exchange/explain-failure.ts';
import { overlapEnd } from '../src/exchange/rotate-command.ts';
import type { Connection } from '../src/exchange/settings.ts';
import { appendSigned, readSigned } from '../src/exchange/signed-lines.ts';
import { submitCommand } from '../src/exchange/submit-command.ts';
import { exchangeFolder, script } from './_exchange-folder.ts';

const { folder, file, exchange } = exchangeFolder();
/** Nobody listens on the first port. */
const nobody = 'http://127.0.0.1:1';
const { privateKey } = generateKeyPairSync('ed25519');
const settings = {
  ...{ api_url: nobody, token_url: `${nobody}/oauth/token`, client_id: 'northern', client_secret: 's' },
  ...{ workspace_id: newId('ws'), authority_id: newId('agr'), kid: newId('key'), key_file: 'signing.json' },
};
file('signing.json', privateKey.export({ format: 'jwk' }));
const config = file('exchange.json', settings);
const configured = (...args: string[]) => exchange(...args, '--config', config);

/** An alias, signed as the message of a place. */
function signedLine(seq: number, streamId = 'show:1234') {
  const payload = {
    ...{ schema: 'delivery-alias/1', workspace_id: settings.workspace_id, authority_id: settings.authority_id },
    ...{ stream_id: streamId, seq, prev: seq === 1 ? null : `sha256:${'a'.repeat(64)}` },
    ...{ event_id: crypto.randomUUID(), issued_at: '2026-11-25T12:00:00Z' },
    subject: { type: 'alias', source_id: 'one', source_version: seq },
    body: {
      ...{ alias: 'one', host: 'northern', path_slug: 'one', target: { type: 'episode', source_id: 'ep-1' } },
      route_policy: { surface_id: 'web', route: 'platform_controlled', when_unavailable: 'source' },
      ...{ state: 'active', supersedes_version: null },
    },
  };
  const envelope = signMessage(JSON.stringify(payload), privateKey, settings.kid);
  return {
    ...{ streamId, sequence: seq, digest: messageDigestOf(envelope.protected, envelope.payload) },
    ...{ issuedAt: payload.issued_at, envelope },
  };
}

describe('a refusal of longwave exchange', () => {
  test('names each setting that is missing, and the key only where it signs', () => {
    const { status, stderr } = exchange('head', 'show:1');
    expect(status).toBe(2);
    expect(stderr).toContain('--api-url (“api_url”) is missing.\n  --token-url (“token_url”) is missing.');
    expect(stderr).not.toContain('kid');
    const body = file('alias.json', { alias: 'one' });
    expect(exchange('alias', body, '--stream', 'show:1').stderr).toContain('--kid (“kid”) is missing.');
  });

  test('names a file that has no key, and how one is made', () => {
    const body = file('alias.json', { alias: 'one' });
    const { status, stderr } = configured('alias', body, '--stream', 'show:1', '--key-file', body);
    expect(status).toBe(2);
    expect(stderr).toContain(`${body} has no private key: write one by “npx longwave exchange key new FILE”.`);
  });

  test('says where the address of a master in a file belongs', () => {
    const body = file('episode.json', { episode: { guid: 'g' } });
    const master = file('master.mp3', 'abc');
    const args = ['snapshot', body, '--stream', 'show:1', '--source', 'ep-1', '--audio', master];
    expect(configured(...args)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('as “url” of “audio_mast'),
    });
    expect(exchange('snapshot', '--help').found).toContain('must stand in FILE.json, as “url” of “audio_master”');
  });

  test.each([
    ['head', ['head', 'badstream']],
    ['export', ['export', 'show/1']],
    ['rotate', ['rotate', '--retire', 'k', '--until', '1d', '--cause', 'c', '--stream', 'badstream']],
  ])('%s says that a name is not the name of a stream', (_command, args) => {
    const { status, stderr } = configured(...args);
    expect(status).toBe(2);
    expect(stderr).toContain('is not the name of a stream. Write one such as show:1234.');
  });

  test('verify names the address of keys that does not answer, and how to save them', () => {
    const lines = file('stream.jsonl', '{}\n');
    const keys = `${nobody}/hosting-exchange/v1/keys`;
    const { status, stderr } = exchange('verify', lines, '--keys', keys, '--signers', `key_1=${config}`);
    expect(status).toBe(2);
    expect(stderr).toContain(`${keys} does not answer.`);
    expect(stderr).toContain(`curl ${keys} > keys.json, then --keys keys.json`);
  });

  test('submit names the first line that is no signed message, and what a line must be', () => {
    const { envelope, digest } = signedLine(1);
    const lines = [JSON.stringify({ digest, ...envelope }), '', '{"sequence": 2}'];
    const { status, stderr } = configured('submit', file('lines.jsonl', lines.join('\n')));
    expect(status).toBe(2);
    expect(stderr).toContain('Line 3 of');
    expect(stderr).toContain('“protected”, “payload” and “signature”, as --keep and “export” write it.');
  });

  test('a stopped service is told before each wait, with its address', async () => {
    const child = spawn(process.execPath, [script, 'exchange', 'head', 'show:1', '--config', config], {
      ...{ env: bareEnvironment, stdio: ['ignore', 'ignore', 'pipe'] },
    });
    const lines = createInterface({ input: child.stderr });
    const [first] = (await once(lines, 'line')) as [string];
    child.kill();
    expect(first).toBe(`The authorization server at ${nobody}/oauth/token does not answer. Trying again in 1 s.`);
  });

  const command = (name: string, reads: ExchangeCommand['reads']): ExchangeCommand => ({
    ...{ name, reads, words: [], summary: '', options: {}, needed: [], run: () => Promise.resolve() },
  });
  const connection = (signed: Connection['signed']) => ({ settings, signed });
  const silence = new ExchangeUnreachable('The exchange at https://x does not answer.', undefined);
  const messageOf = (error: unknown) => (error as Error).message;

  test('a service that never answers ends with what to do: it depends on what was signed', () => {
    const signs = command('alias', 'connection and key');
    expect(messageOf(explainedFailure(silence, command('head', 'connection'), connection([]), undefined))).toBe(
      'The exchange at https://x does not answer. Start it, and run the command again.',
    );
    expect(messageOf(explainedFailure(silence, signs, connection([]), undefined))).toContain('Nothing was sent.');
    const submit = command('submit', 'connection and key');
    expect(messageOf(explainedFailure(silence, submit, connection([]), undefined))).toContain('is not sent twice');
    const kept = path.join(folder, 'kept.jsonl');
    const unanswered = messageOf(explainedFailure(silence, signs, connection([signedLine(1)]), kept));
    expect(unanswered).toContain(`npx longwave exchange submit ${kept}.`);
  });

  test('a signature that does not verify names the file of the key', () => {
    const problem = { status: 422, code: 'signature_invalid', detail: 'The signature does not verify.' };
    const error = explainedFailure(new ExchangeRefusal(problem), command('alias', 'connection'), connection([]), '');
    expect(messageOf(error)).toContain(`Is signing.json the private half of ${settings.kid}?`);
  });
});

test('a held stream leads to the command that ends the hold, unless the operator holds it', () => {
  const problem = { status: 423, code: 'stream_quarantined', detail: 'The stream is held.' };
  const alias = { ...submitCommand, name: 'alias' };
  const says = (more: object) =>
    (explainedFailure(new ExchangeRefusal({ ...problem, ...more }), alias, undefined, undefined) as Error).message;
  expect(says({ rotation_opens: true })).toContain('npx longwave exchange rotate --help');
  expect(says({ rotation_opens: false })).toMatch(/^The stream is held\. \(stream_quarantined\)$/);
});

describe('a file of signed messages', () => {
  test('has what was appended before and after a line that a crash has cut, which is refused by its number', () => {
    const kept = file('torn.jsonl', '');
    appendSigned(kept, [signedLine(1), signedLine(2)]);
    expect(readSigned(kept).map(({ sequence }) => sequence)).toEqual([1, 2]);
    file('torn.jsonl', `${readFileSync(kept, 'utf8')}{"sequence":3,"dig`);
    appendSigned(kept, [signedLine(3)]);
    expect(() => readSigned(kept)).toThrow(UsageError);
    expect(() => readSigned(kept)).toThrow('Line 3 of');
    file('torn.jsonl', readFileSync(kept, 'utf8').replace(/^.*"dig\n/m, ''));
    expect(readSigned(kept)).toMatchObject([{ sequence: 1 }, { sequence: 2 }, { sequence: 3, streamId: 'show:1234' }]);
  });

  test('may be lines of an export, or messages as the library gives them', () => {
    const [first, second] = [signedLine(1), signedLine(2)];
    const exported = {
      ...first.envelope,
      sequence: 1,
      digest: first.digest,
      receipt_id: 'rcp_1',
      receipt: { jws: 'x' },
    };
    const lines = file('mixed.jsonl', `${JSON.stringify(exported)}\n${JSON.stringify(second)}\n`);
    expect(readSigned(lines)).toEqual([first, second]);
  });
});

test('an overlap ends at a time, on a day, or a length from now', () => {
  const now = new Date('2026-11-25T12:00:00Z');
  expect(
    ['2026-12-31T00:00:00+01:00', '2026-12-31', '90m', '12h', '7d', '2w'].map((text) => overlapEnd(text, now)),
  ).toEqual([
    ...['2026-12-31T00:00:00+01:00', '2026-12-31T00:00:00Z', '2026-11-25T13:30:00.000Z', '2026-11-26T00:00:00.000Z'],
    ...['2026-12-02T12:00:00.000Z', '2026-12-09T12:00:00.000Z'],
  ]);
});

test('the help of a command has the settings that it reads, and no others', () => {
  const helpOf = (...name: string[]) => String(exchange(...name, '--help').found);
  expect(helpOf('key', 'new')).not.toContain('--token-url');
  expect(helpOf('verify')).not.toContain('Settings:');
  expect(helpOf('head')).toContain('--token-url');
  expect(helpOf('head')).not.toContain('--key-file');
  expect(helpOf('rotate')).toContain('--key-file');
});
