import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { samples } from '@longwave/local/samples';
import { until } from '@longwave/test-kit';
import { bookCampaign, createRestClient, publishPlan, uploadFile } from '@longwave/test-kit/clients';
import { secondsOf } from '../_fleet.ts';
import {
  makeEpisodes,
  openClientHost,
  openPythonHost,
  type ForeignHost,
  type HostedEpisodes,
} from '../_foreign-hosts.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';

const python = process.env['TEST_FOREIGN_HOST_PYTHON'];
/** The first is long enough to be counted; the others are taken back. */
const seconds = { 'ep-1': 70, 'ep-2': 20, 'ep-3': 21 };
const sources = Object.keys(seconds);

let world: SharedInstallation;
let episodes: HostedEpisodes;
beforeAll(async () => {
  world = await openSharedInstallation();
  episodes = makeEpisodes(path.join(world.folder, 'foreign'), seconds);
}, 180_000);
afterAll(async () => world?.[Symbol.asyncDispose]());

/** A listener who downloads the whole file behind an address: the bytes, and the address to which the alias led. */
async function download(url: string, agent: string) {
  const response = await fetch(url, { headers: { 'user-agent': agent } });
  return { status: response.status, file: response.url, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** A listener who has begun. */
async function begin(url: string, agent: string) {
  const begun = await download(url, agent);
  if (begun.status !== 200) throw new Error(`${url} was answered ${begun.status}`);
  return begun;
}

/** The time in which a revocation must have taken effect everywhere. */
const afterFiveSeconds = () => pause(5_000);

/** Sends the episodes and waits until they can be served; answers the podcast that they became. */
async function bringEpisodes(host: ForeignHost): Promise<string> {
  const sent = await host.snapshots();
  expect(sent.map(({ sequence, status }) => [sequence, status])).toEqual([
    [1, 'accepted'],
    [2, 'accepted'],
    [3, 'accepted'],
  ]);
  const mapped = await Promise.all(
    sources.map((source) =>
      until(
        `${source} is ready`,
        async () => {
          const mapping = await host.mapping(source);
          if (mapping?.state === 'failed') throw new Error(JSON.stringify(mapping.problem));
          return mapping?.state === 'ready' ? mapping : undefined;
        },
        { timeoutMs: 180_000 },
      ),
    ),
  );
  const podcasts = new Set(mapped.map((each) => each.podcast_id!));
  expect(podcasts.size).toBe(1);
  return [...podcasts][0]!;
}

/** The whole story of a host. */
async function hostTells(host: ForeignHost) {
  const { apiKey, workspaceId } = host.account;
  const podcastId = await bringEpisodes(host);
  const rest = createRestClient(world.fleet.urls.base, apiKey);
  const ad = await uploadFile(rest, samples.ad);
  const adUploadId = /upl_[0-9a-z]{26}/.exec(ad.fileUrl)![0];
  const { lineItemId } = await bookCampaign(world.operator, workspaceId, { adUploadId, podcastId, goal: 1000 });
  await publishPlan(world.operator, workspaceId);

  const slug = `north-${Date.now().toString(36)}`;
  await host.surface();
  await host.aliases(slug);
  const addressOf = (source: string) => `${world.fleet.urls.media}/delivery/v1/x/${slug}/${source}.mp3`;
  const heard = path.join(world.folder, 'heard.mp3');
  const stitched = await until(
    'the alias serves the episode with its ad',
    async () => {
      const day = new Date().toISOString().slice(0, 10);
      const answer = await download(addressOf('ep-1'), 'AntennaPod/9.1');
      if (answer.status !== 200) return undefined;
      writeFileSync(heard, answer.bytes);
      return secondsOf(heard) > seconds['ep-1'] + 5 ? { ...answer, day } : undefined;
    },
    { timeoutMs: 60_000 },
  );
  // The same listener again: the same file, and no further download.
  const again = await download(addressOf('ep-1'), 'AntennaPod/9.1');
  expect(again.bytes.equals(stitched.bytes)).toBe(true);
  expect(stitched.bytes.byteLength).toBeGreaterThan(statSync(samples.ad).size);
  const downloads = async () => {
    const days = `/podcasts/${podcastId}/analytics?days_offset=2&granularity=day`;
    const { objects } = await rest.get<{ objects: readonly { downloads: number }[] }>(days);
    return objects.reduce((sum, day) => sum + day.downloads, 0);
  };
  await until('the download is counted', async () => (await downloads()) === 1, { timeoutMs: 120_000 });
  const ads = () => world.operator.adsDelivered(workspaceId, lineItemId);
  await until('the ad is counted', async () => (await ads()) === 1, { timeoutMs: 120_000 });

  // The platform's numbers of that day stand beside our own download.
  const evidenceId = await host.evidence('ep-1', stitched.day, 4711);
  const compared = await until('the report is imported', () => host.compare(evidenceId), {
    holds: (rows) => rows.length > 0,
  });
  expect(compared).toEqual([
    expect.objectContaining({ source_id: 'ep-1', platform: { downloads: 4711 }, ours: { downloads: 1 } }),
  ]);
  expect(await downloads()).toBe(1);

  // Two listeners have begun when their episodes are revoked.
  const [kept, ended] = [
    await begin(addressOf('ep-2'), 'AntennaPod/9.2'),
    await begin(addressOf('ep-3'), 'AntennaPod/9.3'),
  ];
  await host.revoke('ep-2', 'stop_new');
  await host.revoke('ep-3', 'stop_all');
  await afterFiveSeconds();
  expect((await download(addressOf('ep-2'), 'AntennaPod/9.4')).status).toBe(404);
  const goesOn = await download(addressOf('ep-2'), 'AntennaPod/9.2');
  expect([goesOn.status, goesOn.bytes.equals(kept.bytes)]).toEqual([200, true]);
  for (const [url, agent] of [
    [addressOf('ep-3'), 'AntennaPod/9.3'],
    [ended.file, 'AntennaPod/9.3'],
    [addressOf('ep-3'), 'AntennaPod/9.5'],
  ] as const)
    expect([url, (await download(url, agent)).status === 200]).toEqual([url, false]);
  expect((await download(addressOf('ep-1'), 'AntennaPod/9.6')).status).toBe(200);

  const intent = await until('the intent names what serves', async () => {
    const newest = await host.newestIntent();
    const presentations = new Map(newest?.actions.map((each) => [each.alias, each['presentation']]));
    const served = sources.map((source) => presentations.get(source));
    return served.join() === 'stitched,none,none' ? newest : undefined;
  });
  const applied = await host.acknowledge();
  expect(applied?.intent_id).toBe(intent.intent_id);
  // Our own delivery says the same, in its own time.
  const both = await until('our own delivery has acknowledged', () => host.newestIntent(), {
    holds: (newest) => newest?.acknowledgements.length === 2,
  });
  expect(both?.version).toBe(applied?.version);
  for (const by of [host.clientId, 'public-delivery'])
    expect(both?.acknowledgements).toContainEqual(
      expect.objectContaining({ by, intent_version: applied?.version, status: 'applied' }),
    );
}

describe('a host that shares no code with Longwave', () => {
  const name = 'is served, counted, revoked and heard';
  if (python)
    test(
      name,
      async () => {
        await using host = await openPythonHost(world, episodes, python);
        await hostTells(host);
      },
      600_000,
    );
  else if (process.env['REQUIRE_FOREIGN_ENGINES'] === '1')
    test('is required: set TEST_FOREIGN_HOST_PYTHON', () => {
      throw new Error('REQUIRE_FOREIGN_ENGINES=1, but TEST_FOREIGN_HOST_PYTHON is not set.');
    });
  else test.skip(`${name}: not run, because TEST_FOREIGN_HOST_PYTHON names no Python with its packages`, () => {});
});

test('a host that has libs/exchange-client is served, counted, revoked and heard', async () => {
  await using host = await openClientHost(world, episodes);
  await hostTells(host);
}, 600_000);
