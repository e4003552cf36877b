import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { defaultDataFolder, workspaceRoot } from '@longwave/fleet';
import { namesOf, services } from '@longwave/services';
import { z } from 'zod';
import { fleetOptionsOf, readersOf, readSettings, SettingsError } from '../read-settings.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'longwave-settings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function file(text: string): string {
  const name = path.join(folder, `settings-${files++}.yaml`);
  writeFileSync(name, text);
  return name;
}

const read = (args: readonly string[] = [], environment: Record<string, string> = {}) =>
  readSettings(args, environment, '/home/me');

/** Everything that is wrong, one sentence each. */
function faultsOf(args: readonly string[], environment: Record<string, string> = {}): readonly string[] {
  try {
    read(args, environment);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const { message } = error;
    return message.includes('\n')
      ? message
          .split('\n')
          .slice(1)
          .map((line) => line.trim())
      : [message];
  }
  throw new Error('these settings were accepted');
}

test('services get the settings of the environment of npm start, and nothing else of it', () => {
  const environment = {
    ...{ LOG_LEVEL: 'debug', WEBSUB_HUB: 'https://hub.example', FETCH_ALLOW_ORIGINS: 'http://localhost:9000' },
    ...{ POLICY_URL: 'https://podcasts.example/data', TERMS_URL: 'https://podcasts.example/terms' },
    ...{ PLANS_FILE: 'plans.json', MAIL_URL: 'smtp://localhost:2525', MAIL_FROM: 'Pod <no-reply@podcasts.example>' },
    ...{ DATABASE_URL: 'postgresql://elsewhere', S3_SECRET_KEY: 'secret', PATH: '/bin' },
  };
  const { env } = fleetOptionsOf(read([], environment));
  expect(env['auth-server']).toEqual({
    LOG_LEVEL: 'debug',
    FETCH_ALLOW_ORIGINS: 'http://localhost:9000',
    PLANS_FILE: '/home/me/plans.json',
    MAIL_URL: 'smtp://localhost:2525',
    MAIL_FROM: 'Pod <no-reply@podcasts.example>',
  });
  expect(env['public-delivery']).toEqual({ LOG_LEVEL: 'debug', WEBSUB_HUB: 'https://hub.example' });
  expect(env['mcp-server']).toEqual({
    LOG_LEVEL: 'debug',
    POLICY_URL: 'https://podcasts.example/data',
    TERMS_URL: 'https://podcasts.example/terms',
  });
  expect(fleetOptionsOf(read()).env['public-delivery']).toEqual({ LOG_LEVEL: 'info' });
});

test.each(namesOf(services))('%s gets exactly the decided variables that its configuration has', async (service) => {
  const file = path.join(workspaceRoot, 'apps', service, 'src/config.ts');
  const { configuration } = (await import(file)) as { readonly configuration: z.ZodType };
  const { properties = {} } = z.toJSONSchema(configuration, { io: 'input', unrepresentable: 'any' });
  const given = Object.entries(readersOf).flatMap(([name, readers]) => (readers.includes(service) ? [name] : []));
  expect(given).toEqual(Object.keys(readersOf).filter((name) => name in properties));
});

test('without settings everything is on this machine alone', () => {
  expect(read()).toMatchObject({
    ...{ listen: '127.0.0.1', port_base: 8080, data: defaultDataFolder, trusted_proxies: [], adopt: false },
  });
  expect(read().urls).toBeUndefined();
});

test('the installation gets the addresses, ports, folder and proxies of the settings', () => {
  const args = [
    '--public-url',
    'https://pod.example',
    '--listen',
    '10.0.0.5',
    '--port-base',
    '9000',
    '--data',
    '/data',
    '--metrics-port-base',
    '9101',
  ];
  const { env: _env, ...options } = fleetOptionsOf(
    read([...args, '--adopt', '--trusted-proxies', '10.0.0.2,10.1.0.0/16']),
  );
  expect(options).toEqual({
    dataFolder: '/data',
    ports: { base: 9000, mcp: 9001, api: 9002, media: 9003, objectStore: 9004 },
    metricsPortBase: 9101,
    listen: '10.0.0.5',
    urls: expect.objectContaining({ base: 'https://pod.example', objects: 'https://objects.pod.example' }),
    adopt: true,
    trustedProxies: '10.0.0.2,10.1.0.0/16',
    proxyProtocol: false,
  });
  for (const absent of ['urls', 'metricsPortBase']) expect(fleetOptionsOf(read())).not.toHaveProperty(absent);
});

test('ports of metrics that are public ports too are refused', () => {
  const faultOf = (metrics: string) => () => read(['--port-base', '9100', '--metrics-port-base', metrics]);
  for (const metrics of ['9091', '9100', '9104'])
    expect(faultOf(metrics)).toThrow('--metrics-port-base: expected ten ports beside those of port_base, 9100 to 9104');
  for (const metrics of ['9090', '9105']) expect(faultOf(metrics)).not.toThrow();
});

test('an option wins over a variable, a variable over one without prefix, and that over the file', () => {
  const config = file('log_level: error\nport_base: 1000\nlisten: 10.0.0.1\nwebsub_hub: https://file.example');
  const environment = { LOG_LEVEL: 'warn', LONGWAVE_LOG_LEVEL: 'debug', WEBSUB_HUB: 'https://plain.example' };
  const settings = read(['--port-base', '3000', '--config', config], { ...environment, LONGWAVE_PORT_BASE: '2000' });
  expect(settings).toMatchObject({
    ...{ port_base: 3000, log_level: 'debug', websub_hub: 'https://plain.example', listen: '10.0.0.1' },
  });
  expect(read([], { LONGWAVE_CONFIG: config, LOG_LEVEL: '' })).toMatchObject({ log_level: 'error', port_base: 1000 });
});

test('a relative path in the file is relative to the file, of options to the repository, of PLANS_FILE to the caller', () => {
  const config = file('{"$schema": "settings.schema.json", "data": "data", "plans_file": "plans.json"}');
  expect(read(['--config', config])).toMatchObject({
    data: path.join(folder, 'data'),
    plans_file: path.join(folder, 'plans.json'),
  });
  expect(read(['--data', 'data']).data).toBe(path.join(workspaceRoot, 'data'));
  expect(read(['--plans-file', 'plans.json']).plans_file).toBe('/home/me/plans.json');
});

describe('public addresses', () => {
  test('follow from one, each with a host name of its own, and single ones can be set apart', () => {
    expect(read(['--public-url', 'https://pod.example:8443/']).urls).toEqual({
      base: 'https://pod.example:8443',
      mcp: 'https://mcp.pod.example:8443',
      api: 'https://api.pod.example:8443',
      media: 'https://media.pod.example:8443',
      objects: 'https://objects.pod.example:8443',
    });
    const { urls } = read(['--public-url', 'https://pod.example'], { LONGWAVE_MEDIA_URL: 'https://cdn.example' });
    expect(urls).toMatchObject({ api: 'https://api.pod.example', media: 'https://cdn.example' });
  });

  test('that share an origin are refused, and the sentence names both', () => {
    const [fault, ...others] = faultsOf([
      '--public-url',
      'https://pod.example',
      '--api-url',
      'https://pod.example:444',
    ]);
    expect(fault).toMatch(/^--api-url: shares the host name pod\.example with public_url: give each/);
    expect(others).toEqual([]);
  });

  test('of an IP address do not follow, so each is asked for', () => {
    const faults = faultsOf(['--public-url', 'https://192.168.1.5', '--media-url', 'https://media.example']);
    expect(faults.map((fault) => fault.split(':')[0])).toEqual(['mcp_url', 'api_url', 'objects_url']);
    expect(faults[0]).toContain('no name can stand in front of 192.168.1.5');
    expect(faultsOf(['--media-url', 'https://media.example'])[0]).toMatch(/^public_url: expected it too/);
  });

  test.each([
    'http://pod.example',
    'pod.example',
    'https://pod.example/path',
    'https://pod.example?a',
    'ftp://pod.example',
  ])('are no %s', (url) =>
    expect(faultsOf(['--public-url', url])[0]).toMatch(/^--public-url: expected an address such as/),
  );

  test('behind a proxy of this machine make its X-Forwarded-For believed, and behind no other one', () => {
    const url = ['--public-url', 'https://pod.example'];
    expect(read(url).trusted_proxies).toEqual(['127.0.0.1/32', '::1/128']);
    expect(read([...url, '--listen', '10.0.0.1']).trusted_proxies).toEqual([]);
    expect(read([...url, '--trusted-proxies', '10.0.0.2, 10.1.0.0/16']).trusted_proxies).toEqual([
      '10.0.0.2',
      '10.1.0.0/16',
    ]);
  });
});

test('the PROXY protocol is for an installation with a public address and trusted proxies', () => {
  const url = ['--public-url', 'https://pod.example'];
  expect(fleetOptionsOf(read([...url, '--proxy-protocol', 'on'])).proxyProtocol).toBe(true);
  expect(read([...url, '--config', file('proxy_protocol: on')]).proxy_protocol).toBe('on');
  expect(faultsOf(['--proxy-protocol', 'on', '--trusted-proxies', '10.0.0.2'])).toEqual([
    '--proxy-protocol: expected public_url too, to which a proxy in front answers.',
  ]);
  expect(faultsOf([...url, '--listen', '10.0.0.1', '--proxy-protocol', 'on'])).toEqual([
    '--proxy-protocol: expected trusted_proxies too: connections of all others are closed.',
  ]);
  expect(faultsOf([...url, '--proxy-protocol', 'yes'])).toEqual([
    '--proxy-protocol: expected “on” or “off”, not “yes”.',
  ]);
});

test('everything that is wrong is said at once, with the place, what was expected and the nearest known name', () => {
  const config = file('pubic_url: https://pod.example\nport_base: many\nfetch_allow_origins: [files.example]\n');
  const faults = faultsOf(['--lissten', '::1', '--listen', 'eth0', '--config', config, 'word'], {
    ...{ LONGWAVE_TRUSTED_PROXIES: '10.0.0.0/99', LONGWAVE_LOG_LEVLE: 'debug', LONGWAVE_CACHE: '/cache' },
    LONGWAVE_MAIL_URL: 'https://ada:hunter2@mail.example',
  });
  expect(faults).toEqual([
    "there is no option '--lissten'. Did you mean --listen?",
    '“::1” is no option',
    '“word” is no option',
    'there is no variable LONGWAVE_LOG_LEVLE. Did you mean LONGWAVE_LOG_LEVEL?',
    `${config}: there is no setting “pubic_url”. Did you mean “public_url”?`,
    '--listen: expected an IP address of this machine, such as 127.0.0.1 or 0.0.0.0, not “eth0”',
    `port_base in ${config}: expected a whole number from 1 to 65531, not “many”`,
    'LONGWAVE_TRUSTED_PROXIES: expected a list of addresses or address/bits, not “["10.0.0.0/99"]”',
    `fetch_allow_origins in ${config}: expected a list of addresses such as http://10.0.0.5:9000, without a path, not “["files.example"]”`,
    'LONGWAVE_MAIL_URL: expected smtps://user:password@host or smtp://host:port',
  ]);
});

test('a file that is missing, no YAML or no list of settings is named', () => {
  expect(faultsOf(['--config', '/nowhere.yaml'])[0]).toMatch(/^\/nowhere\.yaml cannot be read: ENOENT/);
  const broken = file('listen: [');
  expect(faultsOf(['--config', broken])[0]).toContain(`${broken} is neither YAML nor JSON: `);
  expect(faultsOf(['--config', file('- listen')])[0]).toContain('expected settings, as in “listen: 127.0.0.1”');
  expect(faultsOf(['--config'])[0]).toBe('--config needs a value.');
});

test('the example of a server is accepted', () => {
  const settings = read(['--config', path.join(workspaceRoot, 'deploy/server/longwave.yaml')]);
  expect(settings.urls?.media).toBe('https://media.pod.example');
});
