import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bookCampaign, publishPlan, type Booking } from '@longwave/local/job/book-campaign';
import { checkFeed } from '@longwave/local/job/check-feed';
import { uploadFile } from '@longwave/local/job/rest-client';
import { until } from '@longwave/local/job/until';
import pg from 'pg';
import {
  countedDownloads,
  createPodcaster,
  makeAudio,
  samples,
  startTestFleet,
  type Podcaster,
  type TestFleet,
} from '../_fleet.ts';

let world: TestFleet;
let podcaster: Podcaster;
let booking: Booking;
let enclosureUrl: string;

beforeAll(async () => {
  world = await startTestFleet({ mode: 'durable' });
  podcaster = await createPodcaster(world);
  const { productionId } = await podcaster.newProduction(makeAudio(path.join(world.folder, 'one.wav'), 90), 'One');
  await podcaster.rest.post(`/productions/${productionId}/start?publish_episode=true`);
  const ad = await uploadFile(podcaster.rest, samples.ad);
  booking = await bookCampaign(world.operator, podcaster.account.workspaceId, {
    adUploadId: /upl_[0-9a-z]{26}/.exec(ad.fileUrl)![0],
    podcastId: podcaster.podcastId,
    goal: 1000,
  });
  await publishPlan(world.operator, podcaster.account.workspaceId);
  enclosureUrl = (await until('the feed', 60_000, () => checkFeed(podcaster.feedUrl))).enclosureUrl;
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

/** What a listener has: every byte that its last response promised. */
interface Heard {
  readonly bytes: number;
  readonly endedMs: number;
}

/** Asks again, from the enclosure on, until it has a whole file. */
async function listen(agent: string): Promise<Heard> {
  for (;;) {
    try {
      const response = await fetch(enclosureUrl, {
        headers: { 'user-agent': agent },
        signal: AbortSignal.timeout(10_000),
      });
      const { byteLength: bytes } = await response.arrayBuffer();
      if (response.ok && Number(response.headers.get('content-length')) === bytes)
        return { bytes, endedMs: performance.now() };
    } catch {
      // Refused, broken off or too late: the next try.
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** What the service says it counted, and what its own tables say against themselves. */
async function reconciled() {
  const database = new pg.Client({ connectionString: world.fleet.adminDatabaseUrl });
  await database.connect();
  try {
    const { rows } = await database.query<{ doubled: number; orphans: number; beyond: number }>(`
      select
        (select count(*)::int from (select listener_key, episode_id from audience.session where counted
           group by 1, 2 having count(*) > 1) d) as doubled,
        (select count(*)::int from audience.ad_delivered a where not exists (select from audience.session s
           where (s.listener_key, s.episode_id, s.window_on) = (a.listener_key, a.episode_id, a.window_on) and s.counted)) as orphans,
        (select count(*)::int from (select serving_id from audience.ad_delivered group by 1 having count(*) > 1) b) as beyond`);
    return rows[0]!;
  } finally {
    await database.end();
  }
}

/** Downloads and ads, as soon as they stay the same for a while: nothing is on its way any more. */
async function settledCounts(atLeast: number): Promise<{ downloads: number; ads: number }> {
  let last = '';
  let sinceMs = performance.now();
  return until('the counts to settle', 120_000, async () => {
    const counts = {
      downloads: await countedDownloads(podcaster),
      ads: await world.operator.adsDelivered(podcaster.account.workspaceId, booking.lineItemId),
    };
    const text = JSON.stringify(counts);
    if (text !== last) sinceMs = performance.now();
    last = text;
    return counts.downloads >= atLeast && performance.now() - sinceMs > 4_000 ? counts : undefined;
  });
}

test('engines and services killed one after the other under load: every download is counted once, and no ad without its own', async () => {
  const { engines, services } = world.fleet;
  let running = true;
  const heard: Heard[] = [];
  const crowd = Array.from({ length: 4 }, async (_, lane) => {
    for (let i = 0; running; i++) heard.push(await listen(`AntennaPod/9.${lane}.${i}`));
  });
  const afterSome = async (more: number) => {
    const target = heard.length + more;
    await until(`${more} more listeners`, 60_000, async () => (heard.length >= target ? true : undefined));
  };
  /** Whoever got its last byte at about this time: the process died with their fact in hand, or just after it was kept. */
  const deliveryDiedMs: number[] = [];
  for (let round = 0; round < 2; round++) {
    await afterSome(8);
    engines.redis.kill('SIGKILL');
    await afterSome(8);
    services['analytics-sink'].kill('SIGKILL');
    await afterSome(8);
    engines.postgres.kill('SIGKILL');
    await afterSome(8);
    services['internal-serving'].kill('SIGKILL');
    await afterSome(8);
    deliveryDiedMs.push(performance.now());
    services['public-delivery'].kill('SIGKILL');
    await afterSome(8);
    engines.objectStore.kill('SIGKILL');
  }
  await afterSome(8);
  running = false;
  await Promise.all(crowd);

  const uncertain = heard.filter(({ endedMs }) => deliveryDiedMs.some((at) => Math.abs(endedMs - at) < 500)).length;
  const counted = await settledCounts(heard.length - uncertain);
  expect(counted.downloads).toBeLessThanOrEqual(heard.length);
  expect(counted.downloads).toBeGreaterThanOrEqual(heard.length - uncertain);
  expect(counted.ads).toBeGreaterThan(0);
  expect(counted.ads).toBeLessThanOrEqual(counted.downloads);
  expect(await reconciled()).toEqual({ doubled: 0, orphans: 0, beyond: 0 });
  expect(engines.redis.restarts + engines.postgres.restarts + engines.objectStore.restarts).toBe(6);
}, 300_000);
