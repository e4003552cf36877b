import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { freePort } from '@longwave/fleet';
import { bareEnvironment } from '@longwave/test-kit';
import type { Check } from '../src/checks/check.ts';

const script = path.resolve(import.meta.dirname, '../src/main.ts');
const nowhere = mkdtempSync(path.join(tmpdir(), 'longwave-doctor-'));
afterAll(() => rmSync(nowhere, { recursive: true }));

function doctor(environment: Readonly<Record<string, string>>, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'doctor', ...args, '--data', nowhere], {
    encoding: 'utf8',
    env: { ...bareEnvironment, ...environment },
  });
  return { status, stdout, stderr };
}
function checksOf(environment: Readonly<Record<string, string>>, ...args: string[]) {
  const { status, stdout } = doctor(environment, '--json', ...args);
  const { well, checks } = JSON.parse(stdout) as { well: boolean; checks: readonly Check[] };
  expect(status).toBe(well ? 0 : 1);
  return Object.fromEntries(checks.map((check) => [check.name, check]));
}

test('a machine that runs these tests has every program, and each says its version', () => {
  const found = checksOf({});
  for (const name of ['Node', 'ffmpeg', 'ffprobe', 'redis-server', 'PostgreSQL'])
    expect(found[name]).toMatchObject({ part: 'programs', well: true, says: expect.stringMatching(/\d+\.\d+/) });
});

test('a program that is missing is named with the command that installs it, and the exit code is 1', () => {
  const { status, stdout } = doctor({ PATH: nowhere });
  expect(status).toBe(1);
  expect(stdout).toMatch(/^programs\n/);
  expect(stdout).toMatch(/✗ ffmpeg +not installed\n +Install it: sudo apt-get install ffmpeg/);
  expect(stdout).toMatch(/✗ redis-server +not installed\n +Install Redis 7 or newer/);
});

test('a port that another program uses is named with the option for others', async () => {
  const base = await freePort();
  const server = createServer().listen(base + 3, '127.0.0.1');
  await once(server, 'listening');
  try {
    expect(checksOf({}, '--port-base', String(base))[`ports ${base} to ${base + 4}`]).toMatchObject({
      well: false,
      says: `used by another program: ${base + 3}`,
      advice: `Choose others: npm start -- --port-base ${base + 1_000}`,
    });
  } finally {
    server.close();
  }
});

test('public addresses without TLS, without a DNS name, or of one origin are each refused with what to do', () => {
  const found = checksOf({
    BASE_URL: 'http://pod.example.org',
    API_URL: 'https://no-such-name.invalid',
    MCP_URL: 'https://pod.example.org',
    MEDIA_URL: 'https://pod.example.org/media',
  });
  expect(found['BASE_URL']).toMatchObject({ well: false, says: 'http://pod.example.org has no TLS' });
  expect(found['API_URL']).toMatchObject({
    well: false,
    says: 'no-such-name.invalid has no address',
    advice: 'Add an A or AAAA record for no-such-name.invalid that leads to this machine.',
  });
  expect(found['MEDIA_URL']).toMatchObject({
    well: false,
    says: expect.stringContaining('shares the host name pod.example.org with'),
  });
});

test('ports do not keep public addresses of one host name apart, as services see it too, but on this machine', () => {
  const shared = checksOf({ BASE_URL: 'https://no-such-name.invalid', MEDIA_URL: 'https://no-such-name.invalid:8443' });
  expect(shared['MEDIA_URL']).toMatchObject({
    well: false,
    says: expect.stringContaining('shares the host name no-such-name.invalid with BASE_URL'),
  });
  const here = checksOf({ BASE_URL: 'http://localhost:8080', MEDIA_URL: 'http://localhost:8083' });
  expect(here['MEDIA_URL']).toMatchObject({ well: true });
});

test('a mail server that lets us in is well; one that does not answer, or speaks no SMTP, is not', async () => {
  const server = createServer((socket) => {
    socket.write('220 mail.example ready\r\n');
    socket.on('data', (text) =>
      socket.write(/^(EHLO|HELO)/.test(String(text)) ? '250 mail.example\r\n' : '221 bye\r\n'),
    );
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  // The server must answer meanwhile, so the program does not run synchronously.
  const { checkMail } = await import('../src/doctor/check-mail.ts');
  expect(await checkMail('MAIL_URL', `smtp://127.0.0.1:${port}`)).toMatchObject({
    well: true,
    says: `127.0.0.1:${port} lets us in`,
  });
  server.close();
  expect(await checkMail('MAIL_URL', `smtp://127.0.0.1:${await freePort()}`)).toMatchObject({
    well: false,
    says: expect.stringContaining('nothing listens there'),
  });
});

test('every fault of a settings file and of the variables is said, and what the settings would name is not looked at', () => {
  const config = path.join(nowhere, 'wrong.yaml');
  writeFileSync(config, 'listen: pod.example\nport_bas: 80\nmail_url: smtp-without-scheme:secret\n');
  const { status, stdout } = doctor(
    { LONGWAVE_PUBLIC_URL: 'pod.example', BASE_URL: 'http://of-no-interest.example' },
    '--config',
    config,
  );
  expect(status).toBe(1);
  expect(stdout).toContain(`✗ fault         ${config}: there is no setting “port_bas”. Did you mean “port_base”?`);
  expect(stdout).toContain(`listen in ${config}: expected an IP address of this machine`);
  expect(stdout).toContain(`mail_url in ${config}: expected smtps://user:password@host`);
  expect(stdout).toContain('LONGWAVE_PUBLIC_URL: expected an address such as https://pod.example');
  expect(stdout).toMatch(/✓ ffmpeg/);
  expect(stdout).not.toMatch(/secret|ports \d|public addresses|^mail$/m);
});

test('listening address, ports, public addresses and mail server are those of the settings file and the variables', async () => {
  const base = await freePort();
  const server = createServer().listen(base + 1, '127.0.0.2');
  await once(server, 'listening');
  try {
    const config = path.join(nowhere, 'settings.json');
    const settings = {
      ...{ listen: '127.0.0.2', port_base: base, public_url: 'https://pod.invalid', mcp_url: 'https://agents.invalid' },
      mail_url: `smtp://127.0.0.1:${await freePort()}`,
    };
    writeFileSync(config, JSON.stringify(settings));
    const environment = { BASE_URL: 'http://of-no-interest.example', LONGWAVE_API_URL: 'https://ads.invalid' };
    const found = checksOf(environment, '--config', config);
    expect(found['file']).toMatchObject({ part: 'settings', well: true, says: config });
    expect(found[`ports ${base} to ${base + 4}`]).toMatchObject({ says: `used by another program: ${base + 1}` });
    const hosts = Object.entries(found).filter(([, { part }]) => part === 'public addresses');
    expect(Object.fromEntries(hosts.map(([name, { says }]) => [name, says]))).toEqual({
      public_url: 'pod.invalid has no address',
      mcp_url: 'agents.invalid has no address',
      api_url: 'ads.invalid has no address',
      media_url: 'media.pod.invalid has no address',
      objects_url: 'objects.pod.invalid has no address',
    });
    expect(found['mail_url']).toMatchObject({
      well: false,
      says: expect.stringMatching(/^127\.0\.0\.1:\d+: nothing listens there$/),
    });
  } finally {
    server.close();
  }
});

test('a listening address that this machine does not have is named', async () => {
  const config = path.join(nowhere, 'elsewhere.yaml');
  writeFileSync(config, 'listen: 192.0.2.1\n');
  expect(checksOf({}, '--config', config)['ports 8080 to 8084']).toMatchObject({
    well: false,
    says: '192.0.2.1 is no address of this machine',
  });
});
