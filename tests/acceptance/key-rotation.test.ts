import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dataFolder, findRunningFleet, type FleetAccess } from '@longwave/fleet';
import { namesOf, services, type ServiceName } from '@longwave/services';
import { download, listenerAgentOf } from '@longwave/test-kit/clients';
import { until } from '@longwave/test-kit';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createPodcaster, publishFirstEpisode, startTestFleet, type Podcaster, type TestFleet } from '../_fleet.ts';
import { longwave } from '../_longwave.ts';
import { isCluster } from '../_profile.ts';
import { grantMachineAccess } from '../_machine-access.ts';

/** What no listener and no command of this file asks. */
const away: readonly ServiceName[] = ['internal-serving', 'hosting-exchange', 'mcp-server'];
const running = namesOf(services).filter((name) => !away.includes(name));
/** The authority is rotated in libs/fleet/src/development-ca.test.ts. */
const names = [
  ...['access-tokens', 'principals', 'receipts', 'second-factors', 'cursors', 'delivery-tokens', 'webhooks'],
  ...['listeners', 'database', 'redis', 'certificates'],
  // The object store of the cluster profile is not ours.
  ...(isCluster ? [] : ['object-store']),
];
const kept = names.filter((name) => !['receipts', 'database', 'redis', 'certificates'].includes(name));
let world: TestFleet;
let podcaster: Podcaster;
let enclosureUrl: string;

beforeAll(async () => {
  world = await startTestFleet({ services: running });
  podcaster = await createPodcaster(world);
  enclosureUrl = await publishFirstEpisode(world, podcaster);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

const keys = (...args: string[]) => longwave('keys', ...args, '--data', world.fleet.dataFolder);

/** How the installation is reached now. */
const access = (): FleetAccess => findRunningFleet(dataFolder(world.fleet.dataFolder))!;

/** Commands and downloads, one after the other, until it is stopped. It rejects when one of them fails. */
function load() {
  let goesOn = true;
  const done = { commands: 0, downloads: 0 };
  const repeat = async (work: () => Promise<unknown>, count: () => void) => {
    for (; goesOn; count()) await work();
  };
  const all = Promise.all([
    repeat(
      () => podcaster.newEpisode(`Episode ${done.commands}`),
      () => (done.commands += 1),
    ),
    repeat(
      () => download(enclosureUrl, listenerAgentOf(done.downloads + 1)),
      () => (done.downloads += 1),
    ),
  ]);
  return {
    done,
    stop: async () => {
      goesOn = false;
      await all;
    },
  };
}

/** What was made with the keys of now, and whether each still works. */
async function make() {
  const audio = (
    await fetch(enclosureUrl, { redirect: 'manual', headers: { 'user-agent': 'Overcast/3.0' } })
  ).headers.get('location')!;
  const { issuedToken } = await grantMachineAccess(world, podcaster.account.workspaceId);
  const { upload_url: uploadUrl } = await podcaster.rest.post<{ upload_url: string }>('/uploads', {
    ...{ filename: 'a.wav', filesize: 3 },
  });
  const { adminDatabaseUrl, databaseUrls, redisUrl } = access();
  const connects = async (connectionString: string) => {
    const client = new pg.Client({ connectionString });
    return client.connect().then(
      async () => client.end().then(() => true),
      () => false,
    );
  };
  const logsIn = async (url: string) => {
    const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null }).on('error', () => undefined);
    const answer = await redis.connect().then(
      () => true,
      () => false,
    );
    redis.disconnect();
    return answer;
  };
  return async () => ({
    audio: (await fetch(audio, { headers: { range: 'bytes=0-9' } })).status,
    token: (
      await fetch(`${world.fleet.urls.api}/audience/v1/watermarks?producer=acme`, {
        headers: { authorization: `Bearer ${issuedToken}` },
      })
    ).status,
    upload: (await fetch(uploadUrl, { method: 'PUT', body: 'abc', headers: { 'content-type': 'audio/wav' } })).status,
    database: await Promise.all([adminDatabaseUrl, databaseUrls['product']!].map(connects)),
    redis: await logsIn(redisUrl),
  });
}

test('every key is rotated while clients work: nothing fails, and nothing restarts; what was made before works until the rotation is finished', async () => {
  const works = await make();
  const whole = { audio: 206, token: 200, upload: 200, database: [true, true], redis: true };
  expect(await works()).toEqual(whole);
  const processes = running.map((name) => world.fleet.services[name].pid);

  const clients = load();
  await until('some load', () => clients.done.commands > 2 && clients.done.downloads > 2);
  const rotated = await keys('rotate', ...names, '--json');
  expect(rotated).toMatchObject({ status: 0, stderr: '' });
  const before = { ...clients.done };
  await until('more load', () => clients.done.commands > before.commands + 2);
  expect(await works()).toEqual({ ...whole, database: [false, false], redis: false });
  const early = await keys('rotate', 'delivery-tokens', '--finish');
  expect(early).toMatchObject({ status: 1, stderr: expect.stringMatching(/must stay until .* 180 days/) });

  const madeBetween = await make();
  expect(await keys('rotate', ...kept, '--finish', '--now', '--json')).toMatchObject({ status: 0, stderr: '' });
  await until('more load', () => clients.done.commands > before.commands + 4);
  await clients.stop();
  const gone = { audio: 404, token: 401, upload: isCluster ? 200 : 403, database: [false, false], redis: false };
  expect(await works()).toEqual(gone);
  expect(await madeBetween()).toEqual(whole);
  expect(running.map((name) => world.fleet.services[name].pid)).toEqual(processes);

  // Who connects anew does so with the passwords of now, and so does an engine that is started again.
  const admin = new pg.Client({ connectionString: access().adminDatabaseUrl });
  await admin.connect();
  await admin.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename is not null',
  );
  await admin.end();
  world.fleet.engines.redis.kill('SIGKILL');
  await until('the engines', async () => {
    const answer = await fetch(`http://${world.fleet.adminAddresses.management}/readyz`);
    return answer.ok && (await madeBetween()).redis;
  });
  await podcaster.newEpisode('After all');
  await download(enclosureUrl, listenerAgentOf(1));
  const { stdout } = await keys('list', '--json');
  const listed = (JSON.parse(stdout) as { keys: { name: string; accepted: number }[] }).keys;
  expect(listed.flatMap(({ name, accepted }) => (accepted === 1 ? [] : [name]))).toEqual([]);
  for (const text of [rotated.stdout, stdout]) expect(text).not.toMatch(/[0-9a-f]{32}/);
});
