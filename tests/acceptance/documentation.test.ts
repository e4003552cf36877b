import { execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isPortFree, removeDataFolder, temporaryDataFolder } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { npxLongwave } from '@longwave/test-kit';
import { consentTo, createAccount, signUp, type Person } from '@longwave/test-kit/clients';
import { samples } from '@longwave/local/samples';
import { startOutsideHost } from '../_outside-host.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';
import { runTour } from '../_tour.ts';

const root = path.resolve(import.meta.dirname, '../..');
const textOf = (document: string) => readFileSync(path.join(root, document), 'utf8');
/** The launcher runs in an environment without the test runner's flags, as a person's shell would be. */
const launch = path.join(root, 'deploy/local/launch.mjs');
const run = promisify(execFile);

test('npm run demo with an own file, fresh and as JSON, ends with the result and exit code 0', async () => {
  const { stdout } = await run(
    process.execPath,
    [launch, 'demo', '--audio', samples.audio, '--ad', samples.ad, '--fresh', '--json'],
    { cwd: root, maxBuffer: 16 * 1024 * 1024 },
  );
  const result = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as {
    ok: boolean;
    steps: { name: string; ok: boolean; ms: number }[];
    analytics: { listeners: number; downloads: number; ads_delivered: number };
  };
  expect(result.ok).toBe(true);
  expect(result.steps.every((step) => step.ok && step.ms >= 0)).toBe(true);
  expect(result.analytics).toEqual({
    listeners: result.analytics.listeners,
    downloads: result.analytics.listeners,
    ads_delivered: 1,
  });
  const [, trialRun = ''] = textOf('docs/images/npm-start.txt').split('trial run on a sample:\n');
  const shown = [...trialRun.matchAll(/^✓ (.*?) {2,}\d/gm)].map(([, name]) => name);
  expect(shown).toEqual(result.steps.map(({ name }) => name));
});

describe('on one installation', () => {
  let world: SharedInstallation;
  /** One person for all pages: an installation mails twenty sign-ups of one sender an hour. */
  let ada: Person;
  beforeAll(async () => {
    world = await openSharedInstallation();
    ada = await signUp(world, 'Ada');
  });
  afterAll(async () => world?.[Symbol.asyncDispose]());

  test('npm run demo on a running installation, with a file that is no audio, says so and fails', async () => {
    const failed = await run(
      process.execPath,
      [launch, 'demo', '--audio', path.join(root, 'README.md'), '--data', world.fleet.dataFolder, '--json'],
      { cwd: root },
    ).catch((error: { code: number; stdout: string; stderr: string }) => error);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining(world.fleet.urls.base) });
    const result = JSON.parse(failed.stdout.trimEnd().split('\n').at(-1)!) as { ok: boolean };
    expect(result).toMatchObject({ ok: false });
  });

  test('the tour of the REST API runs as it is written', async () => {
    const { apiKey } = await createAccount(world.operator);
    const stdout = await runTour(world, 'docs/api-tour.md', {
      API: `${world.fleet.urls.base}/api/v1`,
      KEY: apiKey,
      AUDIO: samples.audio,
      COVER: samples.artwork,
    });
    expect(stdout).toMatch(/"code":422.*description/);
    expect(stdout).toMatch(/feeds\/harbour-light-[a-z0-9]+\.xml/);
    expect(stdout).toContain('"state":"encoded"');
    expect(readFileSync(path.join(world.folder, 'first-light.mp3')).subarray(0, 3).toString()).toBe('ID3');
    expect(stdout).toMatch(/"code":404,"message":"The podcast with id pod_[0-9a-z]{26} could not be found\."/);
  });

  test('the guide to moving a show runs as it is written, in and out again', async () => {
    await using outside = await startOutsideHost(world.outsidePort);
    outside.files.set('/first.mp3', { type: 'audio/mpeg', path: samples.audio });
    outside.files.set('/cover.jpg', { type: 'image/jpeg', path: samples.artwork });
    outside.files.set('/feed.xml', {
      type: 'application/rss+xml',
      text: `<?xml version="1.0"?>
<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="https://podcastindex.org/namespace/1.0">
<channel><title>Old Harbour</title><link>https://example.com</link><language>en</language><description>d</description>
<itunes:author>Ada</itunes:author><itunes:explicit>false</itunes:explicit><itunes:category text="Arts"/>
<itunes:image href="${outside.origin}/cover.jpg"/><podcast:guid>9b024349-ccf0-5f69-a609-6b82873eab3c</podcast:guid>
<item><title>First</title><guid isPermaLink="false">old-guid-1</guid><pubDate>Mon, 05 Jan 2026 10:00:00 GMT</pubDate>
<enclosure url="${outside.origin}/first.mp3" length="${statSync(samples.audio).size}" type="audio/mpeg"/></item>
</channel></rss>`,
    });
    const { apiKey } = await createAccount(world.operator);
    const stdout = await runTour(world, 'docs/move-your-show.md', {
      API: `${world.fleet.urls.base}/api/v1`,
      KEY: apiKey,
      OLD_FEED: `${outside.origin}/feed.xml`,
    });
    expect(stdout).toMatch(/^completed items 1 with audio 1 failed 0$/m);
    expect(stdout).toContain('"guid":"old-guid-1"');
    expect(stdout).toMatch(/^9b024349-ccf0-5f69-a609-6b82873eab3c$/m);
    expect(stdout).toMatch(/^old-guid-1 draft/m);
    expect(stdout).toMatch(/^1$/m);
    expect(stdout.toLowerCase()).toContain(`location: ${outside.origin}/feed.xml`);
  });

  test('the page of the Audience Analytics Sink API runs as it is written', async () => {
    const { workspaceId } = await createAccount(world.operator);
    const { record, token } = await world.operator.issueMachineToken({
      producer: 'acme',
      workspaces: [workspaceId],
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const stdout = await runTour(world, 'docs/audience-api.md', {
      AUDIENCE: `${world.fleet.urls.api}/audience/v1`,
      TOKEN: token,
      WORKSPACE: workspaceId,
      PODCAST: newId('pod'),
      EPISODE: newId('ep'),
    });
    const [first, again] = stdout.split('\n');
    expect(first).toMatch(/"accepted":2,"watermark":{"contiguous_sequence":1,.*} 202$/);
    expect(again).toBe(first!.replace(/202$/, '200'));
    expect(stdout).toContain('"received":2');
    expect(stdout).toContain('"gaps":[]');
    const watermark = () =>
      fetch(`${world.fleet.urls.api}/audience/v1/watermarks?producer=acme`, {
        headers: { authorization: `Bearer ${token}` },
      });
    expect((await watermark()).status).toBe(200);
    await world.operator.changeIdentity(record.id, 'machine_token.revoke', {});
    expect((await watermark()).status).toBe(401);
    expect(stdout).toMatch(/"code":"validation_failed".*There is no field “ip”/);
  });

  /** Runs the line of a document that begins with these words after `npx longwave`; answers what it prints. */
  async function runOperatorLine<T>(
    document: string,
    words: string,
    inPlaceOf: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const line = textOf(document)
      .split('\n')
      .find((each) => each.startsWith(`npx longwave ${words}`))!;
    const typed = Object.entries(inPlaceOf).reduce((text, [shown, real]) => text.replace(shown, real), line);
    const { stdout } = await run('bash', ['-c', `${typed} --data ${world.fleet.dataFolder}`], { cwd: root });
    return JSON.parse(stdout) as T;
  }

  test('the page of partner applications runs as it is written, with a person who allows the access', async () => {
    const { workspaceId } = await createAccount(world.operator);
    const [page, kind] = ['docs/partners.md', 'client register --kind'];
    const partner = await runOperatorLine<{ client_secret: string }>(page, `${kind} partner`);
    const machine = await runOperatorLine<{ client_secret: string }>(page, `${kind} machine`, { 'ws_…': workspaceId });
    const stdout = await runTour(
      world,
      page,
      {
        ...{ BASE: world.fleet.urls.base, CLIENT: 'acme-app', REDIRECT: 'https://acme.example/callback' },
        ...{ SECRET: partner.client_secret, MACHINE: 'acme', MACHINE_SECRET: machine.client_secret },
        API_URL: world.fleet.urls.api,
      },
      {
        reply: {
          to: /^http.*\/oauth\/authorize\?.*$/m,
          typed: async (address) => {
            const choice = { account: ada.accountId, scope: ['api:read', 'api:write'] };
            return (await consentTo(ada.browser, address, choice)).href;
          },
        },
      },
    );
    expect(stdout).not.toContain('another request');
    expect(stdout).toContain(ada.accountId);
    expect(stdout.match(/"title":"Harbour Light"/g)).toHaveLength(2);
    expect([...stdout.matchAll(/"code":(40\d)/g)].map(([, code]) => code)).toEqual(['403', '401']);
    expect(stdout).toMatch(/"producer":"acme".*$/);
  });

  test('the page of the Management API runs as it is written, with a person who allows the access', async () => {
    const page = 'docs/management-api.md';
    await runOperatorLine(page, 'client register --kind management');
    const stdout = await runTour(
      world,
      page,
      {
        ...{ BASE: world.fleet.urls.base, API_URL: world.fleet.urls.api },
        ...{ CLIENT: 'planner', REDIRECT: 'https://planner.example/callback' },
      },
      {
        reply: {
          to: /^http.*\/oauth\/authorize\?.*$/m,
          typed: async (address) => {
            const choice = { account: ada.accountId, scope: ['management:read', 'management:write'] };
            return (await consentTo(ada.browser, address, choice)).href;
          },
        },
      },
    );
    expect(stdout).not.toContain('another request');
    expect(stdout).toContain('"rows":[]');
    expect(stdout).toContain('"legal_name":"Tidewater Tea"');
    expect(stdout).toContain('"proves":"acceptance"');
    expect(stdout).toContain('The same answer.');
    const codes = [...stdout.matchAll(/"code":"(\w+)"/g)].map(([, code]) => code);
    expect(codes).toEqual(['idempotency_conflict', 'version_conflict']);
    expect(stdout).toContain('"/attributes/billing_ref"');
    expect(stdout).toContain('"state":"succeeded"');
    for (const file of ['chain.jsonl', 'authority.jsonl']) {
      const args = [
        'receipts',
        'verify',
        path.join(world.folder, file),
        '--keys',
        path.join(world.folder, 'keys.json'),
      ];
      const verified = npxLongwave('.', ...args);
      expect(verified).toMatchObject({ status: 0, stdout: expect.stringContaining('"whole": true') });
    }
  });
});

/** Of five neighbouring ports that are free, below those that other tests are given meanwhile (`freePorts`). */
async function freePortBase(): Promise<number> {
  for (;;) {
    const base = randomInt(12_000, 19_990);
    const free = await Promise.all([0, 1, 2, 3, 4].map((nth) => isPortFree(base + nth)));
    if (free.every(Boolean)) return base;
  }
}

test('npm start runs the job, prints the addresses, and SIGINT to the launcher alone stops everything', async () => {
  const data = temporaryDataFolder();
  const base = await freePortBase();
  const starting = spawn(process.execPath, [launch, 'start', '--port-base', String(base), '--data', data.root], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => starting.once('exit', resolve));
  try {
    let output = '';
    await new Promise<void>((resolve, reject) => {
      starting.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('Ctrl-C stops everything')) resolve();
      });
      void ended.then(() => reject(new Error(output)));
    });
    expect(output).toMatch(/✓ counted once/);
    const answer = await fetch(`http://localhost:${base}/api/v1/podcasts`);
    expect(answer.status).toBe(401);
    starting.kill('SIGINT');
    expect(await ended).toBe(0);
    await expect(fetch(`http://localhost:${base}/api/v1/podcasts`)).rejects.toThrow();
  } finally {
    if (starting.exitCode === null) process.kill(-starting.pid!, 'SIGKILL');
    removeDataFolder(data);
  }
});
