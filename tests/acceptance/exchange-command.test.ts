import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createExchangeClient } from '@longwave/exchange-client';
import { newId } from '@longwave/ids';
import { createAccount, grantExchangeAccess } from '@longwave/test-kit/clients';
import type { JWK } from 'jose';
import { clientOptions } from '../_exchange-platform.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';

const run = promisify(execFile);
const longwave = path.resolve(import.meta.dirname, '../../apps/cli/src/main.ts');
const cli = path.resolve(import.meta.dirname, '../../apps/cli/src/exchange/main.ts');

let world: SharedInstallation;
beforeAll(async () => {
  world = await openSharedInstallation();
}, 180_000);
afterAll(async () => world?.[Symbol.asyncDispose]());

const surface = {
  ...{ surface_id: 'feed', protocols: ['progressive' as const], interstitials: 'none' as const, ranges: true },
  ...{ max_redirects: 5, ads_video: false, client_events: 'none' as const, measurement: 'server_log' as const },
  ...{ personalisation: 'per_download' as const, offline_audio: true },
};

/** A platform with a folder of its own, in which `longwave exchange` runs with its settings. */
async function newPlatform() {
  const { workspaceId } = await createAccount(world.operator, 'network');
  const { authorityId, settings, registerKey } = await grantExchangeAccess(world, workspaceId);
  const folder = path.join(world.folder, authorityId);
  mkdirSync(folder);
  const write = (name: string, content: unknown) => {
    writeFileSync(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    return name;
  };
  /** Runs a command; the JSON that it prints, or throws with what it says. */
  async function exchange<T>(...args: string[]): Promise<T> {
    const { stdout } = await run(process.execPath, [cli, ...args], { cwd: folder });
    return JSON.parse(stdout) as T;
  }
  const newKey = async (file: string) => {
    const registration = ['--workspace-id', workspaceId, '--authority-id', authorityId];
    return registerKey(await exchange<{ jwk: JWK; proof: string }>('key', 'new', file, ...registration));
  };
  const kid = await newKey('key.json');
  write('exchange.json', { ...settings, kid, key_file: 'key.json' });
  write('surface.json', surface);
  const configured = (...args: string[]) => exchange<Result>(...args, '--config', 'exchange.json');
  return { folder, write, newKey, kid, authorityId, settings, exchange, configured };
}
interface Result {
  readonly sequence: number;
  readonly digest: string;
  readonly status: string;
  readonly receipt_id: string;
}

/** What a command that fails says. */
const saysOf = (failing: Promise<unknown>): Promise<string> =>
  failing.then(
    () => '',
    (error: unknown) => (error as { readonly stderr: string }).stderr,
  );

const capability = ['capability', 'surface.json', '--stream', 'show:1'];

/** Sends three messages that contradict an accepted one, by senders that each believe to be the only one. */
async function contradictThreeTimes({ folder, kid, settings }: Awaited<ReturnType<typeof newPlatform>>) {
  const client = createExchangeClient({
    ...clientOptions({ settings }),
    key: { kid, privateJwk: JSON.parse(readFileSync(path.join(folder, 'key.json'), 'utf8')) as JWK },
  });
  const senders = await Promise.all(Array.from({ length: 4 }, () => client.stream('show:1')));
  for (const [index, sender] of senders.entries()) {
    const sent = sender.capability(index + 2, surface);
    if (index === 0) await sent;
    else await expect(sent).rejects.toMatchObject({ code: 'changed_duplicate' });
  }
}

/** Runs a command of the operator against the installation. */
const operate = async (...args: string[]): Promise<unknown> => {
  const { stdout } = await run(process.execPath, [longwave, ...args, '--data', world.fleet.dataFolder]);
  return JSON.parse(stdout) as unknown;
};

test('rotate puts a registered key in the place of another one, and counts up for each further one', async () => {
  const { newKey, kid, configured } = await newPlatform();
  const successor = await newKey('new.json');
  await configured(...capability);
  const rotation = ['rotate', '--stream', 'show:1', '--retire', kid, '--until', '1m', '--cause', 'Yearly.'];
  expect(await saysOf(configured(...rotation))).toContain('The successor is another key than the retired one.');
  const newOne = ['--kid', successor, '--key-file', 'new.json'];
  expect(await configured(...rotation, ...newOne)).toMatchObject({ sequence: 2, status: 'accepted' });
  expect(await configured(...capability, ...newOne)).toMatchObject({ sequence: 3, status: 'accepted' });
  const third = await newKey('third.json');
  const next = [
    '--retire',
    successor,
    '--kid',
    third,
    '--key-file',
    'third.json',
    '--until',
    '7d',
    '--cause',
    'Again.',
  ];
  expect(await configured('rotate', '--stream', 'show:1', ...next)).toMatchObject({ sequence: 4, status: 'accepted' });
});

test('rotate ends the hold of a stream whose key signed contradicting messages', async () => {
  const platform = await newPlatform();
  const { newKey, kid, configured } = platform;
  await configured(...capability);
  await contradictThreeTimes(platform);
  expect(await configured('head', 'show:1')).toMatchObject({ state: 'quarantined' });
  expect(await saysOf(configured(...capability))).toContain('stream_quarantined');
  const successor = await newKey('new.json');
  const newOne = ['--kid', successor, '--key-file', 'new.json'];
  const rotation = ['rotate', '--stream', 'show:1', '--retire', kid, '--until', '1d', '--cause', 'Two senders.'];
  expect(await configured(...rotation, ...newOne)).toMatchObject({ sequence: 3 });
  expect(await configured(...capability, ...newOne)).toMatchObject({ sequence: 4 });
  expect(await configured('head', 'show:1')).toMatchObject({ state: 'open' });
});

test('the operator opens the stream that contradicted itself three times, and holds one; it goes on at its head', async () => {
  const platform = await newPlatform();
  const { kid, newKey, settings, configured } = platform;
  await configured(...capability);
  await contradictThreeTimes(platform);
  const held = await saysOf(configured(...capability));
  expect(held).toContain('stream_quarantined');
  expect(held).toContain('exchange rotate --help');
  const stream = ['--workspace', settings.workspace_id, '--stream', 'show:1'];
  const reopen = ['stream', 'reopen', ...stream, '--reason', 'Two senders, one of which is stopped.'];
  expect(await operate(...reopen)).toEqual({ stream_id: 'show:1', state: 'open' });
  expect(await configured(...capability)).toMatchObject({ sequence: 3, status: 'accepted' });

  const hold = ['stream', 'hold', ...stream, '--reason', 'A laptop was stolen.'];
  expect(await operate(...hold)).toEqual({ stream_id: 'show:1', state: 'quarantined' });
  const state = { state: 'quarantined', state_reason: 'A laptop was stolen.' };
  expect(await configured('head', 'show:1')).toMatchObject(state);
  const newOne = ['--kid', await newKey('new.json'), '--key-file', 'new.json'];
  const rotation = ['rotate', '--stream', 'show:1', '--retire', kid, '--until', '1d', '--cause', 'Stolen.'];
  const refused = await saysOf(configured(...rotation, ...newOne));
  expect(refused).toContain('The operator holds the stream, and alone opens it again. (stream_quarantined)');
  expect(refused).not.toContain('rotate --help');
  await operate(...reopen);
  expect(await configured(...rotation, ...newOne)).toMatchObject({ sequence: 4, status: 'accepted' });
});

test('a stream that there is not, or that is open, is said in a sentence of the operator’s command', async () => {
  const { settings, configured } = await newPlatform();
  await configured(...capability);
  const stream = (action: string, name: string) =>
    saysOf(operate('stream', action, '--workspace', settings.workspace_id, '--stream', name, '--reason', 'x'));
  expect(await stream('hold', 'show:2')).toContain('There is no stream of that name in this workspace.');
  expect(await stream('reopen', 'show:1')).toContain('There is no held stream of that name in this workspace.');
});

describe('kept messages', () => {
  test('are sent again unchanged, and so is an export: both get the first receipts', async () => {
    const { folder, write, configured } = await newPlatform();
    const first = await configured(...capability, '--keep', 'kept.jsonl');
    const second = await configured(...capability, '--keep', 'kept.jsonl');
    const replayed = [first, second].map((result) => ({ ...result, status: 'replayed' }));
    expect(await configured('submit', 'kept.jsonl')).toEqual(replayed);
    const args = ['export', 'show:1', '--config', 'exchange.json'];
    write('stream.jsonl', (await run(process.execPath, [cli, ...args], { cwd: folder })).stdout);
    expect(await configured('submit', 'stream.jsonl')).toEqual(replayed);
  });

  test('that were refused do not count as a second sender when the file is submitted', async () => {
    const { configured } = await newPlatform();
    await configured(...capability, '--version', '5', '--keep', 'kept.jsonl');
    for (const version of ['2', '3', '4'])
      expect(await saysOf(configured(...capability, '--version', version, '--keep', 'kept.jsonl'))).toContain(
        'source_version_regression',
      );
    const last = await configured(...capability, '--keep', 'kept.jsonl');
    expect(last).toMatchObject({ sequence: 2 });
    for (const _attempt of [1, 2, 3])
      expect(await configured('submit', 'kept.jsonl')).toMatchObject([
        { sequence: 1 },
        { receipt_id: last.receipt_id },
      ]);
    expect(await configured('head', 'show:1')).toMatchObject({ state: 'open' });
  });
});

test('wrong settings are said in sentences: secret, token address, authority, key file', async () => {
  const { write, settings, kid, exchange, configured } = await newPlatform();
  await configured(...capability);
  const withSettings = (name: string, more: object) =>
    saysOf(exchange('head', 'show:1', '--config', write(name, { ...settings, ...more })));
  expect(await withSettings('secret.json', { client_secret: 'wrong' })).toContain(
    'The client id or its secret is wrong (invalid_client).',
  );
  expect(await withSettings('token.json', { token_url: settings.api_url })).toContain('is not a token endpoint.');
  const another = settings.authority_id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  expect(await withSettings('authority.json', { authority_id: another })).toContain(
    `The authority of the client is ${settings.authority_id}; the settings name ${another}.`,
  );
  await exchange('key', 'new', 'other.json', '--workspace-id', settings.workspace_id, '--authority-id', another);
  const says = await saysOf(configured(...capability, '--key-file', 'other.json'));
  expect(says).toContain('The signature does not verify by the key that “kid” names.');
  expect(says).toContain(`Is other.json the private half of ${kid}?`);
});

test('a client is registered for an authority grant only when the grant names it', async () => {
  const { settings, authorityId } = await newPlatform();
  const client = (...args: string[]) =>
    run(process.execPath, [longwave, 'client', ...args, '--data', world.fleet.dataFolder]);
  const authority = (id: string) => ['--workspace', settings.workspace_id, '--authority', id];
  const kind = ['register', '--kind', 'machine', '--api', 'exchange', '--name', 'Southern Dark'];
  expect(await saysOf(client(...kind, '--id', 'southern-dark', ...authority(authorityId)))).toContain(
    `The authority grant ${authorityId} is for the client “${settings.client_id}”, not for “southern-dark”.`,
  );
  const unknown = newId('agr');
  expect(await saysOf(client(...kind, '--id', settings.client_id, ...authority(unknown)))).toContain(
    `The workspace ${settings.workspace_id} has no authority grant ${unknown}.`,
  );
  const { stdout } = await client('list');
  const listed = JSON.parse(stdout) as { readonly id: string; readonly client_id: string }[];
  const { id } = listed.find((each) => each.client_id === settings.client_id)!;
  const other = await newPlatform();
  const revision = ['revise', '--client', id, '--workspace', other.settings.workspace_id];
  expect(await saysOf(client(...revision, '--authority', other.authorityId))).toContain('is for the client');
});
