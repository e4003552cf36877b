import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openSecrets } from '@longwave/fleet';
import { samples } from '@longwave/local/samples';
import { services } from '@longwave/services';
import { ffmpeg, makeAudio, until } from '@longwave/test-kit';
import {
  bookCampaign,
  type Booking,
  checkRanges,
  dissect,
  download,
  listenerAgent,
  listenerAgentOf,
  publishPlan,
  uploadFile,
} from '@longwave/test-kit/clients';
import { residentMegabytes } from '@longwave/test-kit/resident-memory';
import { countedDownloads, createPodcaster, type Installation, type Podcaster } from '../_fleet.ts';
import { isCluster } from '../_profile.ts';
import { openSharedInstallation } from '../_shared-installation.ts';
import { makeTrialRun } from '../_trial-run.ts';

// A minute is the least that counts as a download.
const seconds = 65;

let world: Installation;
let episode: string;
/** Of an mp3 file. */
let trialRun: Awaited<ReturnType<typeof makeTrialRun>>;

beforeAll(async () => {
  world = await openSharedInstallation();
  episode = makeAudio(path.join(world.folder, 'episode.mp3'), seconds);
  trialRun = await makeTrialRun(world.fleet, { audio: episode, hls: true });
});
afterAll(async () => world?.[Symbol.asyncDispose]());

test('a complete trial run, from an account to a counted download, holds in every step for an mp3 file, also by HLS', () => {
  expect(trialRun.failures).toEqual([]);
  expect(trialRun).toMatchObject({
    ok: true,
    production: { state: 'encoded' },
    analytics: { downloads: trialRun.analytics?.listeners, ads_delivered: 1 },
  });
  expect(Math.abs(trialRun.production!.audio_duration_ms - seconds * 1000)).toBeLessThanOrEqual(48);
  expect(trialRun.arrangement!.parts.map((part) => part.kind)).toEqual(['header', 'ad', 'content']);
  expect(trialRun.hls).toEqual({
    entry_url: expect.stringMatching(/\.m3u8$/),
    content_seconds: expect.closeTo(seconds, 0),
    segments: expect.any(Number),
    servings: [{ break: 'pre', serving_id: expect.stringMatching(/^srv_/) }],
  });
});

describe('an episode of another format is encoded, published, delivered with an ad and counted once', () => {
  let podcaster: Podcaster;
  let booking: Booking;
  let listeners = 0;
  beforeAll(async () => {
    podcaster = await createPodcaster(world);
    const { workspaceId } = podcaster.account;
    const ad = await uploadFile(podcaster.rest, samples.ad);
    booking = await bookCampaign(world.operator, workspaceId, {
      adUploadId: /upl_[0-9a-z]{26}/.exec(ad.fileUrl)![0],
      podcastId: podcaster.podcastId,
      goal: 1000,
    });
    await publishPlan(world.operator, workspaceId);
  });

  test.each([
    // So many samples make 50 MB.
    ['wav above 30 MB, which goes up in parts', 'wav', ['-ar', '96000', '-c:a', 'pcm_s32le']],
    ['flac', 'flac', []],
    ['ogg', 'ogg', []],
    ['m4a', 'm4a', []],
  ])('%s', async (_name, format, args) => {
    const file = path.join(world.folder, `episode.${format}`);
    ffmpeg('-i', episode, ...args, file);
    // A connection that its server closed meanwhile must not be used.
    await setImmediate();
    const { productionId, episodeId } = await podcaster.newProduction(file);
    await podcaster.rest.post(`/productions/${productionId}/start?publish_episode=true`);
    const production = await podcaster.state(productionId, 'encoded', 'error');
    expect(production).toMatchObject({ state: 'encoded' });
    expect(Math.abs(production.audio_duration_ms! - seconds * 1000)).toBeLessThanOrEqual(48);
    const enclosureUrl = await until('the enclosure', async () => {
      const { enclosure_url: url } = await podcaster.rest.get<{ enclosure_url?: string }>(`/episodes/${episodeId}`);
      return url && (await fetch(url, { method: 'HEAD', redirect: 'manual' })).status === 302 ? url : undefined;
    });
    const got = await download(enclosureUrl, listenerAgentOf(listeners++));
    const { sha256, size, duration_ms = 0 } = production.files.find(({ role }) => role === 'rendition')!;
    const { parts } = dissect(got.bytes, booking.streams, { sha256, size_bytes: size, duration_ms });
    expect(parts.map(({ kind }) => kind)).toEqual(['header', 'ad', 'content']);
    await checkRanges(got, [parts[0]!.bytes, parts[0]!.bytes + parts[1]!.bytes]);
    await until(
      'counting',
      async () => ({
        downloads: await countedDownloads(podcaster),
        ads: await world.operator.adsDelivered(podcaster.account.workspaceId, booking.lineItemId),
      }),
      { holds: ({ downloads, ads }) => downloads === listeners && ads === listeners },
    );
  });
});

test('a player reports at the addresses that a play names; an operator revokes the week, and only the addresses change', async () => {
  const { enclosure_url: enclosure } = trialRun;
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
  await until('the end of the tokens of a revoked week', async () => {
    // By each process, where there are two.
    const asked = [`${report}?e=start`, before.mediaUrl, `${report}?e=start`, before.mediaUrl];
    const statuses = await Promise.all(asked.map(statusOf));
    return statuses.every((status) => status === 404) || undefined;
  });
  expect(performance.now() - revokedAtMs).toBeLessThan(5_000);
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

// The bound is that of one machine.
(isCluster ? test.skip : test)(
  'the whole installation, engines included, stays within 1.5 GB resident after it has worked',
  () => {
    const used = residentMegabytes();
    const total = used.reduce((sum, { megabytes }) => sum + megabytes, 0);
    console.log(`installation resident: ${Math.round(total)} MB in ${used.length} processes`);
    // Every service, PostgreSQL, Redis and the object store: fewer would mean that the count misses some.
    expect(used.filter(({ command }) => command.includes('dist/main.js'))).toHaveLength(Object.keys(services).length);
    expect(total).toBeLessThan(1500);
  },
);
