import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openSecrets } from '@longwave/fleet';
import { runJob } from '@longwave/local/job';
import { download, listenerAgent } from '@longwave/test-kit/clients';
import { ffmpeg, makeAudio, until } from '@longwave/test-kit';
import { services } from '@longwave/services';
import { samples } from '@longwave/local/samples';
import { startTestFleet, type TestFleet } from '../_fleet.ts';

let world: TestFleet;
beforeAll(async () => {
  world = await startTestFleet();
});
afterAll(async () => world?.[Symbol.asyncDispose]());

const quiet = {
  step: async (_name: string, run: (progress: () => void) => Promise<string>) => void (await run(() => undefined)),
};

describe('a complete trial run, from an account to a counted download', () => {
  test.each(['mp3', 'wav', 'flac', 'ogg', 'm4a'])('holds in every step for a %s file', async (format) => {
    const audio = makeAudio(path.join(world.folder, `episode.${format}`), 70);
    const failures: unknown[] = [];
    const report = {
      step: async (name: string, run: (progress: () => void) => Promise<string>) => {
        await run(() => undefined).catch((error: Error) => {
          failures.push(`${name}: ${error.message}`);
          throw error;
        });
      },
    };
    const result = await runJob({ fleet: world.fleet, audio, ad: samples.ad, report });
    expect(failures).toEqual([]);
    expect(result).toMatchObject({
      ok: true,
      production: { state: 'encoded' },
      analytics: { downloads: result.analytics?.listeners, ads_delivered: 1 },
    });
    expect(Math.abs(result.production!.audio_duration_ms - 70_000)).toBeLessThanOrEqual(48);
    expect(result.arrangement!.parts.map((part) => part.kind)).toEqual(['header', 'ad', 'content']);
  });

  test('a file above 30 MB goes through in parts', async () => {
    const audio = path.join(world.folder, 'large.wav');
    // A minute is the least that counts as a download; so many samples make it 50 MB.
    const noise = 'anoisesrc=color=pink:sample_rate=96000:duration=65:seed=7';
    ffmpeg('-f', 'lavfi', '-i', noise, '-ac', '2', '-c:a', 'pcm_s32le', audio);
    const result = await runJob({ fleet: world.fleet, audio, ad: samples.ad, report: quiet });
    expect(result.steps.filter((step) => !step.ok)).toEqual([]);
    expect(result.ok).toBe(true);
  });
});

test('a player reports at the addresses that a play names; an operator revokes the week, and only the addresses change', async () => {
  const { enclosure_url: enclosure } = await runJob({
    fleet: world.fleet,
    audio: samples.audio,
    ad: samples.ad,
    report: quiet,
  });
  const before = await download(enclosure!);
  const headers = { 'user-agent': listenerAgent };
  const timeline = (await (await fetch(before.mediaUrl.replace(/[^/]+$/, 'timeline.json'), { headers })).json()) as {
    parts: { kind: string; slots?: { event_url: string }[] }[];
  };
  const { event_url: report } = timeline.parts.find(({ kind }) => kind === 'break')!.slots![0]!;
  const statusOf = async (url: string) => (await fetch(url, { headers })).status;
  expect([await statusOf(`${report}?e=start`), await statusOf(`${report}?e=start`)]).toEqual([204, 204]);
  const operator = (...args: string[]) => {
    const script = path.resolve(import.meta.dirname, '../../apps/cli/src/main.ts');
    const command = [script, 'delivery-key', ...args, '--data', world.fleet.dataFolder];
    const { status, stdout } = spawnSync(process.execPath, command, { encoding: 'utf8' });
    expect(status).toBe(0);
    return JSON.parse(stdout) as unknown;
  };
  const now = new Date().toISOString();
  const weeks = operator('list') as { week: number; from: string; to: string; revoked: number }[];
  const present = weeks.find(({ from, to }) => from <= now && now < to)!;
  expect(present.revoked).toBe(0);
  expect(operator('revoke', '--week', String(present.week))).toMatchObject({ week: present.week, revoked: 1 });
  const revokedAtMs = performance.now();
  await until(
    'the end of the tokens of a revoked week',
    async () => (await statusOf(`${report}?e=start`)) === 404 || undefined,
  );
  expect(performance.now() - revokedAtMs).toBeLessThan(5_000);
  expect(await statusOf(before.mediaUrl)).toBe(404);
  const after = await download(enclosure!);
  expect(after.mediaUrl).not.toBe(before.mediaUrl);
  expect(after.etag).toBe(before.etag);
});

test('no credential, delivery token, presigned signature, address or user agent reaches any log of the whole run', () => {
  const logs = readdirSync(world.fleet.logsFolder).map(
    (name) => [name, readFileSync(path.join(world.fleet.logsFolder, name), 'utf8')] as const,
  );
  expect(logs.length).toBeGreaterThanOrEqual(7);
  const { services: logins } = openSecrets(path.join(world.fleet.dataFolder, 'secrets'), services);
  const ownSecrets = Object.values(logins).flatMap(({ redisPassword, s3SecretKey }) => [redisPassword, s3SecretKey]);
  const secrets: readonly (readonly [string, RegExp])[] = [
    ['API key', /lw_key_[A-Za-z0-9_-]{20,}/],
    ['delivery token', /t1(?:\.|%2e)[A-Za-z0-9_-]{40,}/i],
    ['bearer token', /Bearer (?!\*\*\*)\S{8,}/i],
    ['presigned signature', /X-Amz-Signature=[0-9a-f]{16,}/],
    ['statement', /eyJ[A-Za-z0-9_-]{10,}\.eyJ/],
    ['password in a URL', /:\/\/[^:@/\s"]+:(?!\*\*\*)[^@/\s"]{4,}@/],
    ['secret key', new RegExp(world.fleet.objectStore.secretKey)],
    ['secret of a service', new RegExp(ownSecrets.join('|'))],
    ['user agent', new RegExp(listenerAgent.replace('.', '\\.'))],
    ['loopback address of a listener', /"(?:address|ip|remote_address|peer)":"(?:::ffff:)?(?:127\.0\.0\.1|::1)"/],
  ];
  // The engines of the embedded default (PostgreSQL, Redis) log no requests; what our own services write is what counts.
  const found = logs.flatMap(([name, text]) =>
    secrets.filter(([, pattern]) => pattern.test(text)).map(([what]) => `${what} in ${name}`),
  );
  expect(found).toEqual([]);
});
