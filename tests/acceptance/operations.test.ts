import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dataFolder, removeDataFolder, startFleet } from '@longwave/fleet';
import { namesOf, services, type ServiceName } from '@longwave/services';
import { checkFeed, createRestClient, download, listenerAgentOf } from '@longwave/test-kit/clients';
import { until } from '@longwave/test-kit';
import {
  countedDownloads,
  createPodcaster,
  publishFirstEpisode,
  startTestFleet,
  type Podcaster,
  type TestFleet,
} from '../_fleet.ts';
import { longwave } from '../_longwave.ts';
import { isCluster, processesOf } from '../_profile.ts';
import { openSharedInstallation } from '../_shared-installation.ts';

/** What no listener and no command of this file asks. */
const away: readonly ServiceName[] = ['internal-serving', 'hosting-exchange', 'mcp-server'];
let world: TestFleet;
let podcaster: Podcaster;
let enclosureUrl: string;

beforeAll(async () => {
  world = await startTestFleet({ services: namesOf(services).filter((name) => !away.includes(name)) });
  podcaster = await createPodcaster(world);
  enclosureUrl = await publishFirstEpisode(world, podcaster);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

async function answerOf<T>(...args: string[]): Promise<T> {
  const { status, stdout, stderr } = await longwave(...args, '--json');
  // What is wrong stands in the answer.
  expect({ status, stderr, stdout: status === 0 ? '' : stdout }).toEqual({ status: 0, stderr: '', stdout: '' });
  return JSON.parse(stdout) as T;
}
const onWorld = () => ['--data', world.fleet.dataFolder];

/** Everything that the operator reads about an installation. */
async function statusOf(data: string, ...options: string[]) {
  const { status, stdout } = await longwave('status', '--json', ...options, '--data', data);
  const { checks } = JSON.parse(stdout) as { checks: { part: string; name: string; well: boolean; says: string }[] };
  return { status, checks, failing: checks.flatMap(({ name, well }) => (well ? [] : [name])) };
}

/** Commands and downloads, one after the other, until it is stopped. What is in the lists was acknowledged. */
function load() {
  const episodes: string[] = [];
  const listeners: string[] = [];
  let goesOn = true;
  const writing = (async () => {
    while (goesOn) episodes.push(await podcaster.newEpisode(`Episode ${episodes.length}`));
  })();
  const listening = (async () => {
    while (goesOn) listeners.push((await download(enclosureUrl, listenerAgentOf(listeners.length + 1))).agent);
  })();
  return {
    episodes,
    listeners,
    stop: async () => {
      goesOn = false;
      await Promise.all([writing, listening]);
    },
  };
}

interface Made {
  readonly backup: string;
  readonly objects: number;
  readonly objects_copied: number;
}

test('status says that every service and engine is well, and names each relay, follower and its dead letters', async () => {
  await using shared = await openSharedInstallation();
  const { checks } = await statusOf(shared.fleet.dataFolder);
  const of = (part: string) => checks.flatMap((check) => (check.part === part ? [check.name] : []));
  const failing = checks.filter(({ part, well }) => !well && ['services', 'engines'].includes(part));
  expect(failing).toEqual([]);
  expect(of('services')).toEqual(processesOf(namesOf(services)));
  expect(of('engines')).toEqual(['PostgreSQL', 'Redis', 'object store', ...(isCluster ? ['Apache Kafka'] : [])]);
  expect(of('relay')).toEqual(expect.arrayContaining(['product.events', 'identity.events']));
  expect(of('followers')).toEqual(expect.arrayContaining(['analytics-sink of delivery.facts']));
  expect(of('dead letters').sort()).toEqual(of('followers').sort());
});

test('status is not well while a service is away, or when the last backup is older than it may be', async () => {
  expect(await statusOf(world.fleet.dataFolder)).toMatchObject({ status: 1, failing: processesOf(away) });
  const strict = await statusOf(world.fleet.dataFolder, '--max-backup-age', '1');
  expect(strict).toMatchObject({ status: 1, failing: [...processesOf(away), 'last'] });
});

test('a backup under load, restored into another folder, has everything that was acknowledged before, and the restored service goes on', async () => {
  const folder = path.join(world.folder, 'backups');
  const running = load();
  await until('some load', () => running.episodes.length > 3 && running.listeners.length > 3);
  const before = { episodes: [...running.episodes], downloads: running.listeners.length };
  const made = await answerOf<Made>('backup', folder, ...onWorld());
  const after = { episodes: running.episodes.length, downloads: running.listeners.length + 1 };
  await running.stop();
  expect(made.objects_copied).toBe(made.objects);
  expect(after.episodes).toBeGreaterThan(before.episodes.length);
  expect((await statusOf(world.fleet.dataFolder, '--max-backup-age', '1')).failing).toEqual(processesOf(away));

  // Nothing was stored since, so nothing is copied again.
  const second = await answerOf<Made>('backup', folder, ...onWorld());
  expect(second).toMatchObject({ objects: made.objects, objects_copied: 0 });
  const name = path.basename(made.backup);
  expect(await answerOf('backup', 'verify', folder, '--backup', name)).toMatchObject({ whole: true, problems: [] });
  const whole = await download(enclosureUrl, listenerAgentOf(1));
  await world.fleet.stop();

  const target = dataFolder(path.join(world.folder, 'restored'));
  expect(await longwave('restore', folder, '--data', world.fleet.dataFolder)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('is not empty'),
  });
  const restored = await answerOf<Record<string, number>>('restore', folder, '--backup', name, '--data', target.root);
  expect(restored).toMatchObject({ well: true, objects: made.objects });
  for (const number of ['named_objects', 'receipts', 'receipt_chains', 'recounted_numbers'])
    expect([number, restored[number]]).toEqual([number, expect.any(Number)]);
  expect(restored['receipts']).toBeGreaterThan(before.episodes.length);

  await using stack = new AsyncDisposableStack();
  stack.defer(async () => removeDataFolder(target));
  const fleet = stack.use(
    await startFleet({
      ...{ dataFolder: target.root, ports: 'free', mode: 'fast' },
      services: ['auth-server', 'management', 'analytics-sink', 'public-delivery', 'rest-gateway'],
    }),
  );
  const rest = createRestClient(fleet.urls.base, podcaster.account.apiKey);
  const episodes = await rest.get<{ id: string }[]>(`/podcasts/${podcaster.podcastId}/episodes`);
  const ids = new Set(episodes.map(({ id }) => id));
  expect(before.episodes.filter((id) => !ids.has(id))).toEqual([]);
  // A prefix of what was acknowledged, and perhaps one whose answer was still on its way.
  expect(running.episodes.slice(0, ids.size - 2).filter((id) => !ids.has(id))).toEqual([]);

  const feedUrl = podcaster.feedUrl.replace(world.fleet.urls.media, fleet.urls.media);
  const feed = await until('the feed', () => checkFeed(feedUrl), { despiteErrors: true });
  expect((await download(feed.enclosureUrl, listenerAgentOf(1))).etag).toBe(whole.etag);
  const counted = await until('counting what was heard', () => countedDownloads({ ...podcaster, rest }), {
    holds: (downloads) => downloads >= before.downloads,
  });
  expect(counted).toBeLessThanOrEqual(after.downloads + 1);
  expect((await rest.post<{ id: string }>(`/podcasts/${podcaster.podcastId}/episodes`, { title: 'Later' })).id).toMatch(
    /^ep_/,
  );
});

test('a backup with a changed byte is called damaged, by the name of the object', async () => {
  const folder = path.join(world.folder, 'backups');
  const objects = path.join(folder, 'objects');
  const [first] = readdirSync(objects).filter((name) => name.length === 2);
  const [digest] = readdirSync(path.join(objects, first!));
  const file = path.join(objects, first!, digest!);
  const bytes = readFileSync(file);
  bytes[0]! ^= 1;
  chmodSync(file, 0o600);
  writeFileSync(file, bytes);
  expect(await longwave('backup', 'verify', folder)).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/is damaged:\nThe object \S+ was changed\./),
  });
  mkdirSync(path.join(world.folder, 'empty'));
  expect(await longwave('backup', 'verify', path.join(world.folder, 'empty'))).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('holds no finished backup'),
  });
});
