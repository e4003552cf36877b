import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bareEnvironment, ffmpeg, until } from '@longwave/test-kit';
import { checkFeed, listenerAgentOf, publishPlan } from '@longwave/test-kit/clients';
import { advertisingOf, type Booked } from '../_advertising.ts';
import { countedDownloads, createPodcaster, type Installation, type Podcaster } from '../_fleet.ts';
import { openSharedInstallation } from '../_shared-installation.ts';

const contentSeconds = 12;
const checker = listenerAgentOf(0);
const script = path.resolve(import.meta.dirname, '../../apps/cli/src/main.ts');

let world: Installation;
let podcaster: Podcaster;
let entryUrl: string;
let sponsor: Booked;

/** A picture that hardly moves, at few pictures a second, with a sound. */
function makeVideo(): string {
  const file = path.join(world.folder, 'episode.mp4');
  ffmpeg(
    ...['-f', 'lavfi', '-i', `testsrc=size=640x360:rate=10:duration=${contentSeconds}`],
    ...['-f', 'lavfi', '-i', `sine=frequency=330:sample_rate=48000:duration=${contentSeconds}`],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-ac', '2', file],
  );
  return file;
}

function makeAd(): string {
  const file = path.join(world.folder, 'sponsor.wav');
  ffmpeg('-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000:duration=3', '-ac', '2', file);
  return file;
}

async function publishEpisode(): Promise<void> {
  const { rest } = podcaster;
  const { productionId, episodeId } = await podcaster.newProduction(makeVideo());
  await rest.put(`/episodes/${episodeId}/markers`, {
    markers: [
      { key: 'middle', kind: 'mid', position_ms: 6_000, max_slots: 1 },
      { key: 'end', kind: 'post', position_ms: contentSeconds * 1000, max_slots: 1 },
    ],
  });
  await rest.post(`/productions/${productionId}/start?publish_episode=true`);
  await podcaster.state(productionId, 'encoded');
}

beforeAll(async () => {
  world = await openSharedInstallation();
  podcaster = await createPodcaster(world);
  const { workspaceId } = podcaster.account;
  const { send, book } = advertisingOf(world, podcaster);
  [, sponsor] = await Promise.all([
    publishEpisode(),
    book({
      name: 'Harbour Radio',
      type: 'sponsorship',
      goal: { unit: 'share_pct', quantity: 100 },
      positions: ['pre', 'mid', 'post'],
      ad: makeAd(),
    }),
  ]);
  // Episodes and ads from before get their pictures too.
  const podcast = await world.operator.read(workspaceId, 'podcasts', podcaster.podcastId);
  await send('podcast.revise', podcast, { hls_video: true, hls_in_feed: true });
  const { enclosureUrl } = await until('the feed', () => checkFeed(podcaster.feedUrl));
  entryUrl = enclosureUrl.replace(/\.mp3$/, '.m3u8');
  await until(
    'the presentation',
    async () => (await fetch(entryUrl, { method: 'HEAD', redirect: 'manual' })).status === 302,
    { timeoutMs: 180_000 },
  );
}, 300_000);
afterAll(async () => world?.[Symbol.asyncDispose]());

/** Runs `longwave hls check` by Apple's profile over the entry. */
function check(...args: readonly string[]) {
  const command = [script, 'hls', 'check', entryUrl, '--profile', 'apple', '--json', ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', env: bareEnvironment });
  const { failures, warnings, findings } = JSON.parse(stdout || '{}') as Record<string, unknown>;
  return { status, stderr, failures, warnings, findings };
}
const nothingFound = { status: 0, stderr: '', failures: 0, warnings: 0, findings: [] };

test("an episode with a picture has a presentation against which Apple's profile has nothing, and the feed names it", async () => {
  expect(check()).toEqual(nothingFound);
  const feed = await (await fetch(podcaster.feedUrl)).text();
  expect(feed).toMatch(
    /<podcast:alternateEnclosure [^>]*height="1080"[^>]* title="Video" codecs="avc1[^"]+,mp4a.40.2"/,
  );
});

test('a listener who reads everything gets the ads with pictures: one download, each ad delivered and billed once', async () => {
  const { workspaceId } = podcaster.account;
  await until('the pictures of the ad', async () => {
    const { attributes } = await world.operator.read(workspaceId, 'creatives', sponsor.creativeId);
    return (attributes['pictures'] as { readonly state: string } | undefined)?.state === 'ready';
  });
  await publishPlan(world.operator, workspaceId);
  expect(check('--all', '--user-agent', checker)).toEqual(nothingFound);
  await until('these counts', async () => {
    const { decided, delivered, billable } = await world.operator.adCounts(workspaceId, sponsor.lineItemId);
    const counts = [await countedDownloads(podcaster), decided, delivered, billable];
    return String(counts) === '1,3,3,3' || undefined;
  });
});
