import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkPresentation, readPresentation } from '@longwave/hls-profile';
import {
  answerHlsFile,
  bareEnvironment,
  makeHlsTracks,
  renderHlsPresentation,
  type HlsFiles,
} from '@longwave/test-kit';
import { botUserAgent, createHttpReader } from '../src/hls/read-over-http.ts';

const script = path.resolve(import.meta.dirname, '../src/main.ts');
const folder = mkdtempSync(path.join(tmpdir(), 'longwave-hls-check-'));
let files: HlsFiles;
let asked: string[] = [];
const agents = new Set<string | undefined>();
/** Handlers that answer paths in place of their files. */
const special = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();

const server = createServer((request, response) => {
  const { pathname, search } = new URL(request.url!, 'http://localhost');
  agents.add(request.headers['user-agent']);
  asked.push(`${pathname}${search} ${request.headers.range ?? ''}`.trim());
  const own = special.get(pathname);
  if (own) return own(request, response);
  const { status, headers, body } = answerHlsFile(files, pathname.slice(1), request.headers.range);
  response.writeHead(status, headers).end(body);
});
const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  files = renderHlsPresentation(makeHlsTracks(folder, 'audio'), `${origin()}/`);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  server.close();
});

/** Runs `longwave hls`. */
async function hls(...args: readonly string[]) {
  const child = spawn(process.execPath, [script, 'hls', ...args], { env: bareEnvironment });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, ...texts };
}

test('a stream without failures ends with 0, in words; asset lists are asked for twice, with the query that they have', async () => {
  asked = [];
  expect(await hls('check', `${origin()}/main.m3u8`, '--profile', 'general')).toEqual({
    ...{ status: 0, stderr: '' },
    stdout:
      'Profile general: 0 failures, 0 warnings.\n\nOf each playlist the first segment, the one in the middle and the last were read. --all reads every segment.\n',
  });
  for (const id of ['pre', 'mid-1', 'post'])
    expect(asked.filter((each) => each === `/al/${id}.json?_HLS_interstitial_id=${id}`)).toHaveLength(2);
});

test('it asks as a bot, or as the program that is named, and says where no breaks may be the reason', async () => {
  const before = new Map(files);
  for (const [name, bytes] of files)
    if (name.endsWith('.m3u8')) files.set(name, Buffer.from(bytes.toString().replace(/#EXT-X-DATERANGE.*\n/g, '')));
  agents.clear();
  const { status, stdout } = await hls(
    'check',
    `${origin()}/main.m3u8`,
    '--profile',
    'general',
    '--user-agent',
    'Podcasts/1.0',
  );
  expect({ status, agents: [...agents] }).toEqual({ status: 0, agents: ['Podcasts/1.0'] });
  expect(stdout).toContain('The stream has no breaks for ads. Some hosts give bots none: --user-agent asks');
  files = before;
  agents.clear();
  await find();
  expect([...agents]).toEqual([expect.stringMatching(/bot/)]);
});

test('a stream with failures ends with 1, and --json names rule, level, place and what to do', async () => {
  const { status, stdout, stderr } = await hls('check', `${origin()}/main.m3u8`, '--all', '--json');
  expect({ status, stderr, found: JSON.parse(stdout) as unknown }).toMatchObject({
    ...{ status: 1, stderr: '' },
    found: {
      ...{ url: `${origin()}/main.m3u8`, profile: 'apple', extent: 'all', failures: 2, warnings: 0, notes: [] },
      findings: [
        { rule: 'A2', level: 'failure', where: 'multivariant playlist', message: expect.stringContaining('video') },
        {
          rule: 'A4',
          level: 'failure',
          where: 'multivariant playlist',
          message: expect.stringContaining('Add EXT-X-I'),
        },
      ],
    },
  });
});

test.each([
  { args: [], says: '“hls” needs “check” after it.' },
  { args: ['check', 'main.m3u8'], says: '“main.m3u8” is no web address.' },
  {
    args: ['check', 'https://example.com/', '--profile', 'spotify'],
    says: '--profile is apple or general, not “spotify”.',
  },
])('the command line “$args” is refused with 2 before anything is read', async ({ args, says }) => {
  const { status, stdout, stderr } = await hls(...args);
  expect({ status, stdout, says: stderr.split('\n')[0] }).toEqual({ status: 2, stdout: '', says });
});

/** Checks the stream at a path, within this process. Answers its findings. */
async function find(at = '/main.m3u8') {
  asked = [];
  const url = new URL(at, origin());
  const read = createHttpReader(url, { extent: 'sample', userAgent: botUserAgent, onRead: () => undefined });
  const { presentation, findings } = await readPresentation(read, url.href, { extent: 'sample' });
  return presentation ? checkPresentation(presentation, { profile: 'general', checkedAt: Date.now() }) : findings;
}

test('nothing that a playlist says steers the terminal', async () => {
  const playlist = files.get('main.m3u8')!;
  files.set('main.m3u8', Buffer.from(playlist.toString().replace('NAME="English"', 'NAME=\u001b[2J “English”')));
  const { status, stdout } = await hls('check', `${origin()}/main.m3u8`, '--profile', 'general');
  files.set('main.m3u8', playlist);
  expect({ status, stdout }).toEqual({ status: 1, stdout: expect.stringContaining('\\u001b[2J “English”') });
  expect(stdout).not.toContain('\u001b');
});

test('redirects are followed, and addresses are relative to where they end', async () => {
  special.set('/entry/show.m3u8', (_, response) => response.writeHead(302, { location: '/main.m3u8' }).end());
  expect(await find('/entry/show.m3u8')).toEqual([]);
});

test('a playlist cannot make this machine ask its private network', async () => {
  const playlist = 'audio/media.m3u8';
  const before = files.get(playlist)!;
  for (const [address, says] of [
    ['https://10.1.2.3/list', 'No public host with this name was found. Check the address.'],
    [
      'https://10.1.2.3:6379/list',
      'It is at https://10.1.2.3:6379, another host, which must have https and its standard port.',
    ],
    [
      'file:///etc/hostname',
      '“file:///etc/hostname” is no web address. Write one that begins with https://, or a path.',
    ],
  ] as const) {
    files.set(
      playlist,
      Buffer.from(before.toString().replace(/X-ASSET-LIST="[^"]*=pre"/, `X-ASSET-LIST="${address}"`)),
    );
    expect(await find()).toEqual([{ rule: 'reachable', level: 'failure', where: 'break “pre”', message: says }]);
  }
  files.set(playlist, before);
});

test('a server that answers a range with the whole file is found, and the file is not downloaded', async () => {
  let sent = 0;
  special.set('/s/audio.mp4', (_, response) => {
    response.writeHead(200, {
      'access-control-allow-origin': '*',
      'content-type': 'video/mp4',
      'content-length': 2 ** 40,
    });
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  const found = await find();
  special.clear();
  expect(new Set(found.map(({ rule }) => rule))).toEqual(new Set(['A14', 'reachable']));
  // Each of the requests fills at most the buffers between the two.
  expect(sent / asked.length).toBeLessThan(8_000_000);
});

test('a playlist that never ends is given up at its limit', async () => {
  special.set('/main.m3u8', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' });
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, '\n')));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  expect(await find()).toEqual([
    { rule: 'reachable', level: 'failure', where: 'multivariant playlist', message: 'The file is larger than 16 MB.' },
  ]);
  special.clear();
});
