import { expect, test } from '@jest/globals';
import { methodologyVersion } from '@longwave/audience';
import { archiveStreams } from '@longwave/event-bus';
import { topics, type ByteRangeServed } from '@longwave/events';
import { startTestObjectStore } from '@longwave/fleet';
import { createObjectStore } from '@longwave/object-store';
import { Dimension, Granularity, Window } from '@longwave/rpc/audience';
import { until } from '@longwave/test-kit';
import { fact, seen, totalBytes } from '@longwave/test-kit/delivery-facts';
import { described, inParts, mediaFact } from '@longwave/test-kit/media-facts';
import { Redis } from 'ioredis';
import { insertLayouts, layoutDigest } from '../src/counting/fact-table.ts';
import { day, facts, november, useSinkWorld } from './_sink-world.ts';

const started = useSinkWorld();

/** The downloads of all days. */
const countTotal = async () =>
  (await started.world.countDays()).buckets.reduce((sum, { downloads }) => sum + downloads, 0n);

const countAds = () => {
  const scope = { $case: 'lineItemId' as const, value: 'li_1' };
  return started.world.gateway.countAds({ workspaceId: 'ws_1', range: november, scope }, started.world.ownerOf('ws_1'));
};

/** A connection to Redis that counts the facts in the streams of the bus, and those that the sink has not acknowledged. */
function connectRedis(url: string) {
  const redis = new Redis(url);
  const sumOver = async (count: (stream: string) => Promise<number>) => {
    const counts = await Promise.all([...Array(8).keys()].map((p) => count(`bus:${topics.deliveryFacts}:${p}`)));
    return counts.reduce((sum, each) => sum + each, 0);
  };
  return {
    countEntries: () => sumOver((stream) => redis.xlen(stream)),
    countUnacknowledged: () => sumOver(async (stream) => Number((await redis.xpending(stream, 'analytics-sink'))[0])),
    [Symbol.asyncDispose]: async () => redis.disconnect(),
  };
}

/** A transaction that stores the layout of this fact waits until the holder is disposed. */
async function holdLayout(one: ByteRangeServed) {
  const holder = await started.world.pool.connect();
  await holder.query('begin');
  await insertLayouts(holder, new Map([[layoutDigest(one), one]]));
  return {
    [Symbol.asyncDispose]: async () => {
      await holder.query('rollback');
      holder.release();
    },
  };
}

test('facts on the bus become numbers: zero-filled days, episodes and ads, within the workspace', async () => {
  await started.world.publish(facts);
  await until(async () => (await countTotal()) === 3n);
  const { buckets, ...rest } = await started.world.countDays();
  expect(buckets).toEqual([
    { startMs: day('2025-11-01'), downloads: 0n, listeners: 0n },
    { startMs: day('2025-11-02'), downloads: 2n, listeners: 2n },
    { startMs: day('2025-11-03'), downloads: 1n, listeners: 1n },
    { startMs: day('2025-11-04'), downloads: 0n, listeners: 0n },
  ]);
  expect(rest.methodologyVersion).toBe(methodologyVersion);
  expect(rest.window).toBe(Window.CALENDAR_UTC);
  expect(rest.completeUntilMs).toBe(BigInt(Date.parse('2025-11-03T07:59:30Z')));
  expect((await started.world.countDays('ws_1', 'ep_2')).buckets.map((bucket) => Number(bucket.downloads))).toEqual([
    0, 1, 0, 0,
  ]);

  const month = await started.world.gateway.countDownloads(
    { workspaceId: 'ws_1', podcastId: 'pod_1', episodeId: '', range: november, granularity: Granularity.MONTH },
    started.world.ownerOf('ws_1'),
  );
  expect(month.buckets).toEqual([{ startMs: day('2025-11-01'), downloads: 3n, listeners: 2n }]);
  const byEpisode = await started.world.gateway.countByEpisode(
    { workspaceId: 'ws_1', podcastId: 'pod_1', range: november },
    started.world.ownerOf('ws_1'),
  );
  expect(byEpisode.episodes).toEqual([
    { episodeId: 'ep_1', downloads: 2n },
    { episodeId: 'ep_2', downloads: 1n },
  ]);
  const third = { fromMs: day('2025-11-03'), toMs: day('2025-11-04') };
  const atAge = (podcastId: string, who = 'ws_1') =>
    started.world.gateway.countEpisodeRanges(
      {
        ...{ workspaceId: 'ws_1', podcastId },
        episodes: [
          { episodeId: 'ep_2', range: november },
          { episodeId: 'ep_1', range: third },
        ],
      },
      started.world.ownerOf(who),
    );
  const days = await started.world.countDays('ws_1', 'ep_1');
  const onThird = days.buckets.find(({ startMs }) => startMs === third.fromMs)!.downloads;
  expect((await atAge('pod_1')).episodes).toEqual([
    { episodeId: 'ep_2', downloads: 1n },
    { episodeId: 'ep_1', downloads: onThird },
  ]);
  expect((await atAge('pod_other')).episodes.map(({ downloads }) => downloads)).toEqual([0n, 0n]);
  await expect(atAge('pod_1', 'ws_2')).rejects.toMatchObject({ code: 'not_found' });
  for (const scope of [
    { $case: 'podcastId' as const, value: 'pod_1' },
    { $case: 'campaignId' as const, value: 'cmp_1' },
    { $case: 'lineItemId' as const, value: 'li_1' },
  ]) {
    const counts = { decided: 0n, served: 1n, delivered: 2n, confirmed: 1n, billable: 1n, clientEvents: [] };
    const nothing = { decided: 0n, served: 0n, delivered: 0n, confirmed: 0n, billable: 0n, clientEvents: [] };
    expect(
      await started.world.gateway.countAds(
        { workspaceId: 'ws_1', range: november, scope },
        started.world.ownerOf('ws_1'),
      ),
    ).toEqual({
      ...counts,
      ...rest,
    });
    expect(
      await started.world.gateway.countAds(
        { workspaceId: 'ws_2', range: november, scope },
        started.world.ownerOf('ws_2'),
      ),
    ).toEqual({
      ...nothing,
      ...rest,
    });
  }
  expect(
    (await started.world.countDays('ws_2')).buckets.every((one) => one.downloads === 0n && one.listeners === 0n),
  ).toBe(true);
  const foreign = await started.world.gateway.countByEpisode(
    { workspaceId: 'ws_2', podcastId: 'pod_1', range: november },
    started.world.ownerOf('ws_2'),
  );
  expect(foreign.episodes).toEqual([]);
  const podcasts = { workspaceId: 'ws_1', podcastIds: ['pod_1'] };
  const byDay = { workspaceId: 'ws_1', podcastId: 'pod_1', range: november, granularity: Granularity.DAY };
  const stranger = started.world.ownerOf('ws_2');
  for (const asked of [
    started.world.gateway.countEpisodes({ ...podcasts, range: november }, stranger),
    started.world.gateway.findFirstDownloads(podcasts, stranger),
    started.world.gateway.countAdSeries(byDay, stranger),
  ])
    await expect(asked).rejects.toMatchObject({ code: 'not_found' });
  expect(
    (await started.world.gateway.countAdSeries(byDay, started.world.ownerOf('ws_1'))).buckets.length,
  ).toBeGreaterThan(0);
});

test('complete_until follows the producers of facts while no facts come, and a mark is no dead letter', async () => {
  await started.world.publish(facts);
  await until(async () => (await started.world.stored()) === 6);
  await started.world.bus.publishToAll(topics.deliveryFacts, (part, parts) => ({
    ...{ key: 'one', id: `one:${part}`, type: 'facts.published' },
    payload: { kind: 'facts_published', producer: 'one', until: '2025-11-04T10:00:00.000Z', ended: false, part, parts },
  }));
  const expected = BigInt(Date.parse('2025-11-04T09:59:30Z'));
  await until(async () => (await started.world.countDays()).completeUntilMs === expected);
  expect(await started.world.bus.listDeadLetters(topics.deliveryFacts, 'analytics-sink')).toEqual([]);
});

test('breakdowns, totals, rows of an export and first downloads agree with the series, for a person and for management', async () => {
  await started.world.publish(facts);
  await until(async () => (await countTotal()) === 3n);
  const scope = { workspaceId: 'ws_1', podcastId: 'pod_1', range: november };
  const byApp = await started.world.gateway.countByDimension(
    { ...scope, episodeId: '', dimension: Dimension.APP },
    started.world.ownerOf('ws_1'),
  );
  expect(byApp.counts).toEqual([{ key: 'Overcast', downloads: 3n }]);
  const ofOne = await started.world.gateway.countByDimension(
    { ...scope, episodeId: 'ep_2', dimension: Dimension.COUNTRY },
    started.world.ownerOf('ws_1'),
  );
  expect(ofOne).toMatchObject({
    counts: [{ key: 'DE', downloads: 1n }],
    methodologyVersion,
    completeUntilMs: BigInt(Date.parse('2025-11-03T07:59:30Z')),
  });
  const asked = { workspaceId: 'ws_1', podcastIds: ['pod_1', 'pod_2'], range: november };
  const rows = [
    { dayMs: day('2025-11-02'), episodeId: 'ep_1', downloads: 1n, listeners: 1n },
    { dayMs: day('2025-11-02'), episodeId: 'ep_2', downloads: 1n, listeners: 1n },
    { dayMs: day('2025-11-03'), episodeId: 'ep_1', downloads: 1n, listeners: 1n },
  ];
  // Management calls without a principal: its export job acts for nobody.
  const management = started.world.clientOf('management');
  for (const [client, options] of [
    [started.world.gateway, started.world.ownerOf('ws_1')],
    [management, { deadlineMs: 5_000 }],
  ] as const) {
    expect((await client.countTotals(asked, options)).podcasts).toEqual([
      { podcastId: 'pod_1', downloads: 3n, listeners: 2n },
      { podcastId: 'pod_2', downloads: 0n, listeners: 0n },
    ]);
    expect((await client.exportDays(scope, options)).days).toEqual(rows);
    const { workspaceId, podcastIds } = asked;
    const { podcasts } = await client.findFirstDownloads({ workspaceId, podcastIds }, options);
    expect(podcasts).toEqual([{ podcastId: 'pod_1', hourMs: BigInt(Date.parse('2025-11-02T10:00:00Z')) }]);
  }
  await expect(management.countByEpisode(scope, started.world.ownerOf('ws_1'))).rejects.toMatchObject({
    code: 'permission_denied',
  });
  management.close();
});

test('facts published again change no number', async () => {
  await started.world.publish(facts);
  await until(async () => (await countTotal()) === 3n);
  const before = await started.world.countDays();
  const after = fact({ fact_id: 'fct_7', listener_key: 'last', podcast_id: 'pod_2', episode_id: 'ep_9' });
  await started.world.publish([...facts, ...facts, after]);
  await until(async () => (await started.world.stored()) === 7);
  expect((await started.world.countDays()).buckets).toEqual(before.buckets);
});

test('after a kill in the middle of a batch nothing is half counted, and the successor counts it once, HLS too', async () => {
  const blocker = await started.world.pool.connect();
  await blocker.query('begin');
  await blocker.query('lock table session in exclusive mode');
  await started.world.publish([...facts, mediaFact('audio', { fact_id: 'm1' }), ...inParts(described.audio).slice(1)]);
  // The batch has stored its facts and waits for the lock on sessions.
  await until(async () => {
    const { rowCount } = await started.world.pool.query(
      `select 1 from pg_stat_activity where application_name = 'analytics-sink' and wait_event_type = 'Lock'
       and query like 'insert into session%'`,
    );
    return rowCount !== 0;
  });
  started.sink.kill('SIGKILL');
  await started.sink.exited;
  await blocker.query('rollback');
  blocker.release();
  await until(async () => {
    const { rowCount } = await started.world.pool.query(
      `select 1 from pg_stat_activity where application_name = 'analytics-sink'`,
    );
    return rowCount === 0;
  });
  started.sink = await started.world.startSink();
  await until(async () => (await countTotal()) === 3n);
  await until(async () => (await started.world.stored()) === 7);
  expect((await started.world.countDays()).buckets.map((bucket) => Number(bucket.downloads))).toEqual([0, 2, 1, 0]);
  await Promise.all([started.world.publish(inParts(described.audio)), until(async () => (await countTotal()) === 4n)]);
  expect(await countAds()).toMatchObject({ delivered: 2n, billable: 1n });
});

test('after a kill between the chunks of a batch that are counted one by one, the successor counts every fact once', async () => {
  // Each listener's facts are a chunk: of an own part of the topic, and with an own layout.
  const [first, free, held] = ['anna', 'bert', 'carl'].map((listener_key) =>
    ['2025-11-01', '2025-11-02', '2025-11-03'].map((on) =>
      fact({
        ...{ fact_id: `${listener_key} ${on}`, listener_key, address_key: listener_key, arrangement_id: listener_key },
        started_at: `${on}T10:00:00.000Z`,
      }),
    ),
  ) as [ByteRangeServed[], ByteRangeServed[], ByteRangeServed[]];
  await using redis = connectRedis(started.world.redisUrl);
  const untilHanded = (messages: number) =>
    until(async () => (await redis.countUnacknowledged()) === messages, { despiteErrors: true });
  /** The sink has stored so many facts, and waits for a layout. */
  const untilWaiting = (facts: number) =>
    until(`a sink that waits after ${facts} facts`, async () => {
      const { rows } = await started.world.pool.query<{ facts: number; waits: boolean }>(
        `select (select count(*)::int from fact) as facts, exists (
           select from pg_stat_activity where application_name = 'analytics-sink' and wait_event_type = 'Lock'
             and query like 'insert into layout%') as waits`,
      );
      return rows[0]!.waits && rows[0]!.facts === facts;
    });
  await started.world.publish([seen()]);
  await until(async () => (await started.world.pool.query('select from user_agent')).rowCount === 1);
  await untilHanded(0);
  {
    await using _held = await holdLayout(held[0]!);
    {
      // The other chunks collect while the first one waits.
      await using _first = await holdLayout(first[0]!);
      await started.world.publish(first);
      await untilWaiting(0);
      await started.world.publish(free);
      await untilHanded(6);
      await started.world.publish(held);
      await untilHanded(9);
    }
    // Both of them together wait in vain. Then each is counted alone.
    await untilWaiting(3);
    await untilWaiting(6);
    started.sink.kill('SIGKILL');
    await started.sink.exited;
  }
  started.sink = await started.world.startSink();
  await until(async () => (await started.world.stored()) === 9);
  await untilHanded(0);
  expect((await started.world.countDays()).buckets.map(({ downloads }) => Number(downloads))).toEqual([3, 3, 3, 0]);
  expect(await countAds()).toMatchObject({ delivered: 9n, billable: 1n });
});

test('facts that left Redis for the archive while the sink was away are each counted once', async () => {
  await started.sink.stop();
  const listeners = Array.from({ length: 150 }, (_, i) => `listener-${i}`);
  const half = totalBytes / 2;
  const halves = listeners.flatMap((listener_key, i) => [
    fact({ fact_id: `first-${i}`, listener_key, address_key: listener_key, written: [[0, half]] }),
    fact({ fact_id: `second-${i}`, listener_key, address_key: listener_key, written: [[half, totalBytes]] }),
  ]);
  await started.world.publish([...halves, seen()]);
  await using objects = await startTestObjectStore();
  const store = createObjectStore(objects);
  await store.ensureBucket();
  await using redis = connectRedis(started.world.redisUrl);
  await using _archiver = archiveStreams({
    redisUrl: started.world.redisUrl,
    clientName: 'test',
    store,
    topics: [{ topic: topics.deliveryFacts }],
    chunk: 5,
    maxEntries: 5,
    everyMs: 10,
  });
  await until(async () => (await redis.countEntries()) <= 8 * 5);
  started.sink = await started.world.startSink();
  // Half of an episode is a download too, so facts may come after the last one.
  await until(async () => (await countTotal()) >= 150n && (await started.world.stored()) >= halves.length);
  expect(await started.world.stored()).toBe(halves.length);
  expect((await started.world.countDays()).buckets.map((bucket) => Number(bucket.downloads))).toEqual([0, 150, 0, 0]);
  const ads = await countAds();
  // All downloads delivered one serving, which is billed once.
  expect(ads).toMatchObject({ delivered: 150n, billable: 1n });
});

test('a message that is not a fact becomes a dead letter and delays nothing', async () => {
  await started.world.bus.publish([
    { topic: topics.deliveryFacts, key: 'anna', id: 'bad', type: 'x', payload: { kind: 'nothing' } },
  ]);
  await started.world.publish(facts);
  await until(
    async () => (await started.world.bus.listDeadLetters(topics.deliveryFacts, 'analytics-sink')).length === 1,
  );
  await until(async () => (await started.world.stored()) === 6);
});

test('a service that may not call is refused, and so is a request without workspace, dimension or a possible range', async () => {
  const encoder = started.world.clientOf('encoder');
  const request = { workspaceId: 'ws_1', podcastId: 'pod_1', range: november };
  await expect(encoder.countByEpisode(request, started.world.ownerOf('ws_1'))).rejects.toMatchObject({
    code: 'permission_denied',
  });
  encoder.close();
  await expect(
    started.world.gateway.countByEpisode({ ...request, workspaceId: '' }, started.world.ownerOf('ws_1')),
  ).rejects.toMatchObject({
    code: 'validation_failed',
  });
  const unnamed = { ...request, episodeId: '', dimension: Dimension.UNSPECIFIED };
  await expect(started.world.gateway.countByDimension(unnamed, started.world.ownerOf('ws_1'))).rejects.toMatchObject({
    code: 'validation_failed',
  });
  const month = { fromMs: november.fromMs, toMs: november.fromMs + 31n * 86_400_000n };
  expect(
    (await started.world.gateway.exportDays({ ...request, range: month }, started.world.ownerOf('ws_1'))).days,
  ).toEqual([]);
  await expect(
    started.world.gateway.exportDays(
      { ...request, range: { ...month, toMs: month.toMs + 1n } },
      started.world.ownerOf('ws_1'),
    ),
  ).rejects.toMatchObject({ code: 'validation_failed' });
  const backwards = { fromMs: november.toMs, toMs: november.fromMs };
  await expect(
    started.world.gateway.countByEpisode({ ...request, range: backwards }, started.world.ownerOf('ws_1')),
  ).rejects.toMatchObject({
    code: 'validation_failed',
  });
});
