import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createEventBus } from '@longwave/event-bus';
import { topics } from '@longwave/events';
import { idFromUuid } from '@longwave/ids';
import {
  bookCampaign,
  type Booking,
  checkFeed,
  download,
  issueCredential,
  publishPlan,
  uploadFile,
} from '@longwave/test-kit/clients';
import { makeAudio, sha256, until } from '@longwave/test-kit';
import type { ServiceName } from '@longwave/services';
import pMap from 'p-map';
import pg from 'pg';
import { samples } from '@longwave/local/samples';
import { countedDownloads, createPodcaster, startTestFleet, type Podcaster, type TestFleet } from '../_fleet.ts';
import { sendThroughDeaths } from './_platform-batches.ts';

let world: TestFleet;
let podcaster: Podcaster;
let booking: Booking;
let enclosureUrl: string;
let database: pg.Client;

beforeAll(async () => {
  world = await startTestFleet({
    env: { management: { JOB_LEASE_MS: '10000' }, 'public-delivery': { DECIDE_DEADLINE_MS: '3000' } },
    mode: 'durable',
  });
  database = new pg.Client({ connectionString: world.fleet.adminDatabaseUrl });
  // The last test kills PostgreSQL.
  database.on('error', () => undefined);
  await database.connect();
  podcaster = await createPodcaster(world);
  const { productionId } = await podcaster.newProduction(makeAudio(path.join(world.folder, 'first.wav'), 70), 'First');
  await podcaster.rest.post(`/productions/${productionId}/start?publish_episode=true`);
  const ad = await uploadFile(podcaster.rest, samples.ad);
  booking = await bookCampaign(world.operator, podcaster.account.workspaceId, {
    adUploadId: /upl_[0-9a-z]{26}/.exec(ad.fileUrl)![0],
    podcastId: podcaster.podcastId,
    goal: 1000,
  });
  await publishPlan(world.operator, podcaster.account.workspaceId);
  enclosureUrl = (await until('the feed', () => checkFeed(podcaster.feedUrl))).enclosureUrl;
});
afterAll(async () => {
  await database?.end();
  await world?.[Symbol.asyncDispose]();
});

/** kill -9, then wait until its supervisor has it serving again. */
async function killAndWait(name: ServiceName): Promise<void> {
  const service = world.fleet.services[name];
  const before = service.pid;
  service.kill('SIGKILL');
  await until(`${name} to come back`, async () => service.pid !== before && service.pid !== undefined, {
    timeoutMs: 30_000,
  });
  await service.ready();
}

const versionOf = async (id: string) =>
  (await database.query('select version, lifecycle_state from product.resource where id = $1', [id])).rows[0] as {
    version: number;
    lifecycle_state: string;
  };

const counted = async () => ({
  downloads: await countedDownloads(podcaster),
  ads: await world.operator.adsDelivered(podcaster.account.workspaceId, booking.lineItemId),
});

/** Waits for the expected count, then makes sure that it stays when everything published so far has been consumed. */
async function expectCounted(expected: { downloads: number; ads: number }): Promise<void> {
  let last: unknown;
  await until(`counting ${JSON.stringify(expected)}`, async () => {
    last = await counted();
    return JSON.stringify(last) === JSON.stringify(expected) ? true : undefined;
  }).catch((error: Error) => {
    throw new Error(`${error.message}; the last answer was ${JSON.stringify(last)}`);
  });
  // A second counting of the same facts would follow within the bus's redelivery; the count must not move any more.
  const settled = Date.now() + 4_000;
  await until('the settling time', async () => {
    expect(await counted()).toEqual(expected);
    return Date.now() > settled ? true : undefined;
  });
}

test('an encoder killed in mid-encode: another takes the job when the lease ends, and the production has one result', async () => {
  const { productionId } = await podcaster.newProduction(makeAudio(path.join(world.folder, 'long.wav'), 150), 'Long');
  await podcaster.rest.post(`/productions/${productionId}/start`);
  await until('the encoding to be under way', async () => {
    const { progress } = await podcaster.rest.get<{ progress?: number }>(`/productions/${productionId}`);
    return progress !== undefined && progress > 0.05 ? true : undefined;
  });
  await killAndWait('encoder');
  const production = await podcaster.state(productionId, 'encoded', 'error');
  expect(production.problem).toBeUndefined();
  expect(await versionOf(productionId)).toEqual({ version: 3, lifecycle_state: 'encoded' });
  const { rows } = await database.query('select state, attempt from product.job where subject_id = $1', [productionId]);
  expect(rows).toEqual([{ state: 'done', attempt: 2 }]);
});

test('management killed between acceptance and relay: what was accepted is published after the restart, once', async () => {
  const episodeId = await podcaster.newEpisode('Before');
  // Holding the relay's own lock keeps everything accepted from here on in the outbox.
  const lock = `7241563, hashtext('product')`;
  await database.query(
    "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 7241563 and objid::int4 = hashtext('product') and pid <> pg_backend_pid()",
  );
  await until(
    'the relay lock',
    async () => (await database.query(`select pg_try_advisory_lock(${lock}) as held`)).rows[0].held,
  );
  await podcaster.rest.put(`/episodes/${episodeId}`, { title: 'After' });
  const unpublished = await database.query(
    'select count(*)::int as n from product.outbox where key = $1 and published_at is null',
    [episodeId],
  );
  expect(unpublished.rows[0].n).toBeGreaterThanOrEqual(1);
  world.fleet.services.management.kill('SIGKILL');
  await database.query(`select pg_advisory_unlock(${lock})`);
  await until('the event to be published', async () => {
    const { rows } = await database.query(
      'select count(*)::int as n from product.outbox where key = $1 and published_at is null',
      [episodeId],
    );
    return rows[0].n === 0 ? true : undefined;
  });
  await until('the projection to have it', async () => {
    const { rows } = await database.query('select * from delivery.episode where id = $1', [episodeId]);
    return JSON.stringify(rows).includes('After') ? true : undefined;
  });
  expect(await versionOf(episodeId)).toMatchObject({ version: 2 });
  await world.fleet.services.management.ready();
});

/** Reads a media URL slowly until `stopAt` bytes or until the connection breaks; answers what arrived. */
function readSome(url: string, from: number, stopAt: number, onBytes: (total: number) => void): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let total = 0;
    const request = http.get(
      url,
      { headers: { 'user-agent': 'Overcast/3.0', ...(from > 0 && { range: `bytes=${from}-` }) } },
      (response) => {
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          total += chunk.length;
          onBytes(total);
          if (total >= stopAt) response.destroy();
        });
        response.on('error', () => undefined);
        response.on('close', () => resolve(Buffer.concat(chunks)));
      },
    );
    request.on('error', () => resolve(Buffer.concat(chunks)));
  });
}

test('public-delivery killed in mid-download: the listener resumes the same bytes; one download and one ad are counted', async () => {
  await expectCounted({ downloads: 0, ads: 0 });
  const redirect = await fetch(enclosureUrl, { redirect: 'manual', headers: { 'user-agent': 'Overcast/3.0' } });
  const url = redirect.headers.get('location')!;
  const head = await fetch(url, { method: 'HEAD', headers: { 'user-agent': 'Overcast/3.0' } });
  const total = Number(head.headers.get('content-length'));
  let killed = false;
  const first = await readSome(url, 0, Math.floor(total * 0.6), (bytes) => {
    if (!killed && bytes > total * 0.4) {
      killed = true;
      world.fleet.services['public-delivery'].kill('SIGKILL');
    }
  });
  expect(killed).toBe(true);
  await until(
    'public-delivery to come back',
    async () => (await fetch(url, { method: 'HEAD' }).catch(() => undefined))?.ok || undefined,
  );
  const rest = await readSome(url, first.length, Infinity, () => undefined);
  const whole = Buffer.concat([first, rest]);
  expect(whole.length).toBe(total);
  const reference = Buffer.from(await (await fetch(url, { headers: { 'user-agent': 'Overcast/3.0' } })).arrayBuffer());
  expect(sha256(whole)).toBe(sha256(reference));
  await expectCounted({ downloads: 1, ads: 1 });
});

test('the sink killed again and again in mid-batch: every download and every ad that was heard is counted exactly once', async () => {
  const before = await counted();
  const listeners = 60;
  const lengths: number[] = [];
  let sent = 0;
  const listen = async () => {
    while (sent < listeners) lengths.push((await download(enclosureUrl, `AntennaPod/9.${sent++}`)).bytes.length);
  };
  const kills = (async () => {
    for (let i = 0; i < 4; i++) {
      await until('some facts', async () => sent >= (i + 1) * 12);
      await killAndWait('analytics-sink');
    }
  })();
  await Promise.all([listen(), listen(), listen(), kills]);
  // A decision that a starved machine makes too late leaves its listener the clean content; that ad must not be counted.
  const withAd = Math.max(...lengths);
  const heard = lengths.filter((length) => length === withAd).length;
  expect(heard).toBeGreaterThan(listeners / 2);
  await expectCounted({ downloads: before.downloads + listeners, ads: before.ads + heard });
});

/** Makes the removal of announcements wait until the lock of this connection ends. */
const holdRemovals = `
  select pg_advisory_lock(1);
  create function serving.hold_removal() returns trigger language plpgsql as
    'begin perform pg_advisory_xact_lock(1); return old; end';
  create trigger hold_removal before delete on serving.announcement_batch
    for each row execute function serving.hold_removal()`;
const releaseRemovals = 'drop function serving.hold_removal cascade; select pg_advisory_unlock(1)';

test('internal-serving killed after publishing decisions and before removing their announcement: they are published again, and counted once', async () => {
  const { workspaceId } = podcaster.account;
  const decided = async () => (await world.operator.adCounts(workspaceId, booking.lineItemId)).decided;
  const before = await decided();
  const told = new Map<string, number>();
  await using bus = await createEventBus({ kind: 'redis', redisUrl: world.fleet.redisUrl, clientName: 'test' });
  await bus.subscribe({
    ...{ topic: topics.decisions, group: 'test' },
    handle: async (messages) => messages.forEach(({ id }) => told.set(id, (told.get(id) ?? 0) + 1)),
  });
  await database.query(holdRemovals);
  const agents = ['Kasts/1', 'Kasts/2', 'Kasts/3'];
  await Promise.all(
    agents.map((agent) => fetch(enclosureUrl, { redirect: 'manual', headers: { 'user-agent': agent } })),
  );
  const removing = `from pg_stat_activity where wait_event = 'advisory' and query like 'delete from announcement_batch%'`;
  await until('a removal', async () => (await database.query(`select ${removing}`)).rowCount === 1);
  const { rows } = await database.query<{ uuid: string }>(
    'select unnest(decision_ids) as uuid from serving.announcement_batch',
  );
  const decisionIds = rows.map(({ uuid }) => idFromUuid('dec', uuid));
  expect(decisionIds).toHaveLength(agents.length);
  await until(() => decisionIds.some((id) => told.has(id)));
  await killAndWait('internal-serving');
  // PostgreSQL would finish the statement although its client is gone.
  await database.query(`select pg_terminate_backend(pid) ${removing}`);
  await database.query(releaseRemovals);
  // Its lease of 30 seconds ends.
  await database.query(`update serving.announcement_batch set leased_until = now()`);
  await until(async () => (await database.query('select from serving.announcement_batch')).rowCount === 0);
  await until(() => decisionIds.every((id) => told.has(id)) && decisionIds.some((id) => told.get(id)! > 1));
  await until(async () => (await bus.countWaiting(topics.decisions, 'analytics-sink')) === 0);
  expect(await decided()).toBe(before + agents.length);
});

/** Gateways that keep verified credentials under a lease, and have heard of every change. */
const countFollowers = async () => {
  const { rowCount } = await database.query(
    'select from identity.verification_holder join identity.verification_position on acknowledged = position where expulsion is null',
  );
  return rowCount!;
};

test('auth-server killed while gateways hold leases: a key that is revoked after its restart does not pass once that was answered', async () => {
  const [first, second] = await pMap(
    ['first', 'second'],
    (name) => issueCredential(world.operator, podcaster.account.accountId, { kind: 'api_key', name, scope: 'read' }),
    { concurrency: 1 },
  );
  const statusOf = async ({ text }: { readonly text: string }) =>
    (await fetch(`${world.fleet.urls.base}/api/v1/podcasts`, { headers: { token: text } })).status;
  const passes = async (key: { readonly text: string }) => (await statusOf(key)) === 200;
  await using stack = new AsyncDisposableStack();
  let isOver = false;
  const asking = pMap([first!, second!], async (key) => {
    while (!isOver) await statusOf(key);
  });
  stack.defer(async () => {
    isOver = true;
    await asking;
  });
  /** Revokes a key as soon as auth-server answers, and tries it at once. */
  async function revoke(key: { readonly id: string; readonly text: string }): Promise<void> {
    const command = () => world.operator.changeIdentity(key.id, 'credential.revoke', {});
    await until('the revocation', command, { despiteErrors: true });
    const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(key)));
    // 503: a gateway that is not connected again.
    expect(statuses.filter((status) => status !== 401 && status !== 503)).toEqual([]);
    await until(async () => (await statusOf(key)) === 401);
  }
  await until(async () => (await passes(first!)) && (await passes(second!)));
  const followers = await until(countFollowers, { holds: (count) => count > 0 });
  const { exited } = world.fleet.services['auth-server'];
  world.fleet.services['auth-server'].kill('SIGKILL');
  await exited;
  await revoke(first!);
  // The gateways hold leases of its successor.
  await until(countFollowers, { holds: (count) => count >= followers });
  await until(() => passes(second!));
  await revoke(second!);
});

test('internal-serving down or slower than its deadline: clean content, in time, with the reason in the log', async () => {
  const clean = async (agent: string) => {
    const started = performance.now();
    const redirect = await fetch(enclosureUrl, { redirect: 'manual', headers: { 'user-agent': agent } });
    const ms = performance.now() - started;
    const body = Buffer.from(
      await (await fetch(redirect.headers.get('location')!, { headers: { 'user-agent': agent } })).arrayBuffer(),
    );
    return { ms, bytes: body.length };
  };
  const serving = world.fleet.services['internal-serving'];
  process.kill(serving.pid!, 'SIGSTOP');
  const slow = await clean('Castro/1');
  process.kill(serving.pid!, 'SIGCONT');
  // Other listeners get the ad: at once, or when the pacer that was killed before is replaced.
  let listeners = 0;
  await until(async () => (await download(enclosureUrl, `Castro/${++listeners + 10}`)).bytes.length, {
    holds: (bytes) => bytes > slow.bytes + booking.streams[0]!.size_bytes / 2,
  });
  expect(slow.ms).toBeLessThan(5_000);
  await serving.stop();
  const down = await clean('Castro/2');
  expect(down.bytes).toBe(slow.bytes);
  const log = readFileSync(path.join(world.fleet.logsFolder, 'public-delivery.log'), 'utf8');
  expect(log).toMatch(/decision\.unavailable/);
});

test('a batch of a hosting platform, with a service or an engine killed in its middle: its stream is exactly what it sent, and each command ran once', async () => {
  await sendThroughDeaths(world);
}, 240_000);
