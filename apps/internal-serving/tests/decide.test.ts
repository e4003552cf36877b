import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { jcsDigest } from '@longwave/idempotency';
import { idToUuid, newId } from '@longwave/ids';
import { anyTargeting } from '@longwave/events';
import { createPool } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import { renderAnswer } from '../src/decisions/decision-record.ts';
import { createDecisionArchive } from '../src/decisions/decision-archive.ts';
import { readerOf } from './_decision.ts';
import { slotsGiven } from './_leases.ts';
import { guaranteed, lineItem, playOf, preroll, untilDecidedBy } from './_support.ts';
import { startTwoNodes, type TwoNodes } from './_two-nodes.ts';

let two: TwoNodes;
beforeAll(async () => {
  two = await startTwoNodes();
});
afterAll(async () => two[Symbol.asyncDispose]());

test('a plan published by event decides on every node, and a play decided before it keeps its empty answer', async () => {
  const workspaceId = newId('ws');
  const early = playOf(workspaceId);
  const before = await two.nodes[0].client.decide(early, {});
  expect(before).toMatchObject({ decisionId: early.decisionId, servingPlanId: '', picks: [], noAdReason: 'no_plan' });

  const line = lineItem();
  const { servingPlanId } = await two.engines.publishPlan(workspaceId, [line]);
  for (const one of two.nodes) {
    await untilDecidedBy(one, workspaceId, servingPlanId);
    const play = playOf(workspaceId);
    const answer = await one.client.decide(play, {});
    expect(answer).toMatchObject({ decisionId: play.decisionId, servingPlanId, noAdReason: '' });
    expect(answer.picks).toMatchObject([
      {
        breakKey: 'pre',
        slot: 0,
        campaignId: line.campaign_id,
        lineItemId: line.line_item_id,
        creativeId: line.creatives[0]!.creative_id,
        segmentDigest: 'ab'.repeat(32),
        sizeBytes: 480_000n,
        durationMs: 30_000n,
      },
    ]);
    expect(answer.picks[0]!.servingId).toMatch(/^srv_/);
    expect(await one.client.decide(early, {})).toEqual(before);
  }
});

test('one decision id has one answer: twenty at once, on both nodes, under a newer plan and after a restart', async () => {
  const workspaceId = newId('ws');
  const first = await two.engines.publishPlan(
    workspaceId,
    Array.from({ length: 40 }, () => lineItem()),
  );
  for (const one of two.nodes) await untilDecidedBy(one, workspaceId, first.servingPlanId);
  const play = playOf(workspaceId, { breaks: [{ ...preroll, maxSlots: 2 }] });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => two.nodes[at % 2 ? 0 : 1].client.decide(play, {})),
  );
  const second = await two.engines.publishPlan(workspaceId, [lineItem()]);
  await untilDecidedBy(two.nodes[0], workspaceId, second.servingPlanId);
  answers.push(await two.nodes[0].client.decide({ ...play, atMs: play.atMs + 5_000n }, {}));
  await two.nodes[0][Symbol.asyncDispose]();
  two.nodes[0] = await two.engines.startNode();
  answers.push(await two.nodes[0].client.decide(play, {}));

  expect(answers[0]!.picks).toHaveLength(2);
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});

test('a play that needs HLS gets ads with their tracks alone, the same ones each time, and the trace says why others did not serve', async () => {
  const workspaceId = newId('ws');
  const hls = {
    ...{ codec: 'mp4a.40.2', digest: 'cd'.repeat(32), size_bytes: 720_605, duration_ms: 30_016 },
    ...{ index_digest: 'ef'.repeat(32), index_size_bytes: 410 },
  };
  const tracked = lineItem();
  for (const media of tracked.creatives[0]!.media) media.hls = hls;
  const bare = guaranteed(1_000);
  const { servingPlanId } = await two.engines.publishPlan(workspaceId, [tracked, bare]);
  for (const one of two.nodes) await untilDecidedBy(one, workspaceId, servingPlanId);
  const play = playOf(workspaceId, { streamFormats: ['mp3/128000/48000/2', 'hls-aac-192'] });
  const answer = await two.nodes[0].client.decide(play, {});
  expect(answer.picks.map(({ lineItemId, hls: track }) => [lineItemId, track])).toEqual([
    [
      tracked.line_item_id,
      {
        ...{ codec: 'mp4a.40.2', digest: 'cd'.repeat(32), sizeBytes: 720_605n, durationMs: 30_016n },
        ...{ indexDigest: 'ef'.repeat(32), indexSizeBytes: 410n },
      },
    ],
  ]);
  // Also from what the other node reads of it, under a plan without these ads.
  const later = await two.engines.publishPlan(workspaceId, [lineItem()]);
  await untilDecidedBy(two.nodes[1], workspaceId, later.servingPlanId);
  expect(await two.nodes[1].client.decide(play, {})).toEqual(answer);
  const operator = two.engines.clientAs('operator', two.nodes[0].port);
  const asked = { workspaceId, decisionId: play.decisionId };
  const { traceJson } = await operator.explain(asked, {});
  expect(JSON.parse(traceJson)).toMatchObject({
    request_class: { stream_formats: ['mp3/128000/48000/2', 'hls-aac-192'] },
    replay: { status: 'identical' },
    candidates: expect.arrayContaining([
      expect.objectContaining({ line_item_id: bare.line_item_id, verdict: 'no_rendition' }),
    ]),
  });
  operator.close();
});

test('a play that needs pictures gets ads that have them, with their sizes, and an ad of sound alone does not serve', async () => {
  const workspaceId = newId('ws');
  const track = {
    ...{ codec: 'avc1.64001f', digest: 'ab'.repeat(32), size_bytes: 130_000, duration_ms: 30_000 },
    ...{ index_digest: 'ef'.repeat(32), index_size_bytes: 410 },
  };
  const size = { width: 1280, height: 720, frame_rate: { frames: 25, seconds: 1 } };
  const [shown, heard] = [lineItem(), guaranteed(1_000)];
  for (const one of [shown, heard]) for (const media of one.creatives[0]!.media) media.hls = track;
  const names = ['v360', 'v720', 'v1080', 'iframe'] as const;
  shown.creatives[0]!.pictures = names.map((name) => ({ name, ...track, ...size }));
  const { servingPlanId } = await two.engines.publishPlan(workspaceId, [shown, heard]);
  for (const one of two.nodes) await untilDecidedBy(one, workspaceId, servingPlanId);
  const streamFormats = ['mp3/128000/48000/2', 'hls-aac-192', 'hls-avc'];
  const play = playOf(workspaceId, { streamFormats });
  const answer = await two.nodes[0].client.decide(play, {});
  expect(answer.picks.map(({ lineItemId }) => lineItemId)).toEqual([shown.line_item_id]);
  expect(answer.picks[0]!.pictures).toEqual(
    names.map((name) => ({
      ...{ name, width: 1280, height: 720, frameRateFrames: 25, frameRateSeconds: 1 },
      track: {
        ...{ codec: 'avc1.64001f', digest: 'ab'.repeat(32), sizeBytes: 130_000n, durationMs: 30_000n },
        ...{ indexDigest: 'ef'.repeat(32), indexSizeBytes: 410n },
      },
    })),
  );
  // From what the other node reads of the stored decision.
  expect(await two.nodes[1].client.decide(play, {})).toEqual(answer);
});

test('200 plays at once, 20 of them asked again on the other node, give one row, one answer and one count per id', async () => {
  const workspaceId = newId('ws');
  const booked = guaranteed(1_000);
  const { servingPlanId } = await two.engines.publishPlan(workspaceId, [booked]);
  for (const one of two.nodes) {
    await untilDecidedBy(one, workspaceId, servingPlanId);
    await until(async () => (await one.client.decide(playOf(workspaceId), {})).picks.length === 1);
  }
  const pool = createPool(two.engines.database.url, 'serving', { name: 'test', max: 1 });
  const countGiven = () => slotsGiven(pool, booked.line_item_id);
  const givenBefore = await countGiven();

  const plays = Array.from({ length: 180 }, () => playOf(workspaceId));
  const asked = plays.flatMap((play, at) => (at < 20 ? [play, play] : [play]));
  const answers = await Promise.all(asked.map((play, at) => two.nodes[at % 2 ? 0 : 1].client.decide(play, {})));
  const { find } = createDecisionArchive(pool, two.engines.store, readerOf(pool));
  const stored = new Map(
    await Promise.all(plays.map(async ({ decisionId }) => [decisionId, (await find(decisionId))!.answer] as const)),
  );
  const given = (await countGiven()) - givenBefore;
  await pool.end();

  expect(given).toBe(answers.filter((_, at) => at >= 40 || at % 2 === 0).flatMap((answer) => answer.picks).length);
  answers.forEach((answer, at) => {
    expect(answer).toEqual(renderAnswer(stored.get(asked[at]!.decisionId)!));
    expect(answer.decisionId).toBe(asked[at]!.decisionId);
  });
});

/** The request as JSON: numbers, and bytes in hex. */
const plain = (value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;

test('a decision leaves a trace with a verdict for every candidate and no listener key', async () => {
  const workspaceId = newId('ws');
  const french = lineItem({ targeting: { ...anyTargeting, countries: { include: ['FR'], exclude: [] } } });
  const anywhere = lineItem();
  const { servingPlanId, digest } = await two.engines.publishPlan(workspaceId, [french, anywhere]);
  await untilDecidedBy(two.nodes[0], workspaceId, servingPlanId);
  const play = playOf(workspaceId);
  await two.nodes[0].client.decide(play, {});

  const pool = createPool(two.engines.database.url, 'serving', { name: 'test', max: 1 });
  const stored = (await createDecisionArchive(pool, two.engines.store, readerOf(pool)).find(play.decisionId))!;
  const { rows } = await pool.query<{ packed: Buffer }>('select packed from packed_decision where decision_id = $1', [
    idToUuid(play.decisionId),
  ]);
  await pool.end();
  expect(stored).toMatchObject({ workspaceId, servingPlanId, planDigest: digest });
  expect(stored.trace.request_class).toMatchObject({ country: 'DE', listener_bucket: 'present' });
  expect(stored.trace.candidates).toEqual([
    expect.objectContaining({ line_item_id: anywhere.line_item_id, verdict: 'won', rank: 1 }),
    expect.objectContaining({ line_item_id: french.line_item_id, verdict: 'targeting_country', rank: null }),
  ]);
  const input = Object.fromEntries(
    // A request without an operating system and stream formats has the same digest as before these fields existed.
    Object.entries({ ...play, breaks: undefined, operatingSystem: undefined, streamFormats: undefined }).map(
      ([name, value]) => [name, plain(value)],
    ),
  );
  const inputBreaks = play.breaks.map((one) => ({
    ...one,
    maxDurationMs: Number(one.maxDurationMs),
    positionMs: Number(one.positionMs),
  }));
  expect(stored.trace).toMatchObject({
    input_digest: jcsDigest({ ...input, breaks: inputBreaks }),
    output_digest: jcsDigest(stored.answer),
  });
  expect(JSON.stringify(stored)).not.toContain(Buffer.alloc(16, 7).toString('hex'));
  expect(rows[0]!.packed.includes(Buffer.alloc(16, 7))).toBe(false);
});

test('one workspace never serves what another booked, nor learns of its decisions', async () => {
  const [mine, theirs] = [newId('ws'), newId('ws')];
  const { servingPlanId } = await two.engines.publishPlan(theirs, [lineItem()]);
  await untilDecidedBy(two.nodes[0], theirs, servingPlanId);
  expect(await two.nodes[0].client.decide(playOf(mine), {})).toMatchObject({ picks: [], noAdReason: 'no_plan' });
  const play = playOf(theirs);
  await two.nodes[0].client.decide(play, {});
  await expect(two.nodes[0].client.decide({ ...play, workspaceId: mine }, {})).rejects.toMatchObject({
    code: 'idempotency_conflict',
  });
});

test('a malformed request is refused with every wrong field', async () => {
  const refused = two.nodes[0].client.decide(
    playOf('ws_1', { country: 'Germany', listenerBucket: Buffer.alloc(3), breaks: [preroll, preroll], atMs: 0n }),
    {},
  );
  await expect(refused).rejects.toMatchObject({ code: 'validation_failed' });
  const { context } = (await refused.catch((error: unknown) => error)) as { context: { errors: { path: string }[] } };
  expect(context.errors.map((one) => one.path).sort()).toEqual([
    '/atMs',
    '/breaks',
    '/country',
    '/listenerBucket',
    '/workspaceId',
  ]);
});

test('any time that a request may name can be stored', async () => {
  for (const atMs of [1n, 8_640_000_000_000_000n]) {
    const play = playOf(newId('ws'), { atMs });
    expect(await two.nodes[0].client.decide(play, {})).toMatchObject({ decisionId: play.decisionId });
  }
});

test('a word that the database cannot store is refused before it reaches others', async () => {
  for (const given of [{ streamFormat: 'mp3\0' }, { breaks: [{ ...preroll, key: '\0' }] }])
    await expect(two.nodes[0].client.decide(playOf(newId('ws'), given), {})).rejects.toMatchObject({
      code: 'validation_failed',
    });
});

test('a caller waits no longer than its deadline, and its retry gets one answer', async () => {
  const workspaceId = newId('ws');
  const { servingPlanId } = await two.engines.publishPlan(workspaceId, [lineItem()]);
  await untilDecidedBy(two.nodes[0], workspaceId, servingPlanId);
  const play = playOf(workspaceId);
  const pool = createPool(two.engines.database.url, 'serving', { name: 'test', max: 1 });
  const blocker = await pool.connect();
  await blocker.query('begin');
  await blocker.query(
    'insert into packed_decision (decision_id, workspace_id, at) values ($1::uuid, $1::uuid, now())',
    [idToUuid(play.decisionId)],
  );
  // The database answers only after that.
  await expect(two.nodes[0].client.decide(play, { deadlineMs: 200 })).rejects.toMatchObject({ code: 'timeout' });
  await blocker.query('rollback');
  blocker.release();
  await pool.end();
  const answer = await two.nodes[0].client.decide(play, {});
  expect(answer.picks).toHaveLength(1);
  expect(await two.nodes[1].client.decide(play, {})).toEqual(answer);
});

test('decisions are fast: the distribution is printed, not judged', async () => {
  const workspaceId = newId('ws');
  const { servingPlanId } = await two.engines.publishPlan(
    workspaceId,
    Array.from({ length: 500 }, () => lineItem()),
  );
  await untilDecidedBy(two.nodes[0], workspaceId, servingPlanId);
  const timesMs: number[] = [];
  const worker = async () => {
    for (let play = 0; play < 100; play++) {
      const started = performance.now();
      await two.nodes[0].client.decide(playOf(workspaceId), {});
      timesMs.push(performance.now() - started);
    }
  };
  for (const callers of [1, 8]) {
    timesMs.length = 0;
    const started = performance.now();
    await Promise.all(Array.from({ length: callers }, worker));
    const perSecond = Math.round((callers * 100_000) / (performance.now() - started));
    timesMs.sort((a, b) => a - b);
    const at = (share: number) => timesMs[Math.floor(share * (timesMs.length - 1))]!.toFixed(1);
    process.stdout.write(
      `Decide over mTLS, ${callers} callers: p50 ${at(0.5)} p90 ${at(0.9)} p99 ${at(0.99)} max ${at(1)} ms, ${perSecond}/s\n`,
    );
  }
});
