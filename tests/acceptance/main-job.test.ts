import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runJob } from '@longwave/local/job';
import { listenerAgent } from '@longwave/local/job/check-delivery';
import { makeAudio, samples, startTestFleet, type TestFleet } from '../_fleet.ts';

let world: TestFleet;
beforeAll(async () => {
  world = await startTestFleet();
});
afterAll(async () => world?.[Symbol.asyncDispose]());

const quiet = {
  step: async (_name: string, run: (progress: () => void) => Promise<string>) => void (await run(() => undefined)),
};

describe('the main job, from an account to a counted download', () => {
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
      analytics: { downloads: 1, ads_delivered: 1 },
    });
    expect(Math.abs(result.production!.audio_duration_ms - 70_000)).toBeLessThanOrEqual(48);
    expect(result.arrangement!.parts.map((part) => part.kind)).toEqual(['header', 'ad', 'content']);
  });

  test('a file above 30 MB goes through in parts', async () => {
    const audio = makeAudio(path.join(world.folder, 'long.wav'), 200);
    const result = await runJob({ fleet: world.fleet, audio, ad: samples.ad, report: quiet });
    expect(result.steps.filter((step) => !step.ok)).toEqual([]);
    expect(result.ok).toBe(true);
  });
});

test('no credential, delivery token, presigned signature, address or user agent reaches any log of the whole run', () => {
  const logs = readdirSync(world.fleet.logsFolder).map(
    (name) => [name, readFileSync(path.join(world.fleet.logsFolder, name), 'utf8')] as const,
  );
  expect(logs.length).toBeGreaterThanOrEqual(7);
  const secrets: readonly (readonly [string, RegExp])[] = [
    ['API key', /lw_key_[A-Za-z0-9_-]{20,}/],
    ['delivery token', /t1\.[A-Za-z0-9_-]{40,}/],
    ['presigned signature', /X-Amz-Signature=[0-9a-f]{16,}/],
    ['statement', /eyJ[A-Za-z0-9_-]{10,}\.eyJ/],
    ['password in a URL', /:\/\/[^:@/\s"]+:(?!\*\*\*)[^@/\s"]{4,}@/],
    ['secret key', new RegExp(world.fleet.objectStore.secretKey)],
    ['user agent', new RegExp(listenerAgent.replace('.', '\\.'))],
    ['loopback address of a listener', /"(?:address|ip|remote_address|peer)":"(?:::ffff:)?(?:127\.0\.0\.1|::1)"/],
  ];
  // The engines of the embedded default (PostgreSQL, Redis) log no requests; what our own services write is what counts.
  const found = logs.flatMap(([name, text]) =>
    secrets.filter(([, pattern]) => pattern.test(text)).map(([what]) => `${what} in ${name}`),
  );
  expect(found).toEqual([]);
});
