import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  addBit,
  createBits,
  createUrgency,
  decisionTraceSchema,
  setUrgency,
  type DecisionTrace,
  type UrgencyLevel,
} from '@longwave/ad-decision';
import { anyTargeting, type PlanLineItem } from '@longwave/events';
import { idToUuid, newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import fc from 'fast-check';
import { createDecidePlay } from '../src/decisions/decide-play.ts';
import { createDecisionArchive } from '../src/decisions/decision-archive.ts';
import type { StoredInputs } from '../src/decisions/decision-record.ts';
import { createDecisionWriter } from '../src/decisions/decision-writer.ts';
import { noTexts } from '../src/decisions/known-texts.ts';
import { listDecision, packDecision } from '../src/decisions/packed-decision.ts';
import type { GoalCounting } from '../src/goals/goal-counting.ts';
import type { GoalCredit } from '../src/goals/goal-credit.ts';
import { loadPlan } from '../src/plans/load-plan.ts';
import { decisionOf, insertByRelease4, insertInto, readerOf } from './_decision.ts';
import {
  guaranteed,
  lineItem,
  playOf,
  preroll,
  startEngines,
  untilDecidedBy,
  type Engines,
  type Node,
  type ServingClient,
} from './_support.ts';

let engines: Engines;
let node: Node;
let operator: ServingClient;

beforeAll(async () => {
  engines = await startEngines();
  node = await engines.startNode();
  operator = engines.clientAs('operator', node.port);
});

afterAll(async () => {
  operator.close();
  await node[Symbol.asyncDispose]();
  await engines[Symbol.asyncDispose]();
});

const storedOf = (pool: Pool, decisionId: string) =>
  createDecisionArchive(pool, engines.store, readerOf(pool)).find(decisionId);

const creativesOf = (durations: readonly number[]): PlanLineItem['creatives'] =>
  durations.map((duration_ms) => {
    const creative = lineItem().creatives[0]!;
    return { ...creative, creative_id: newId('crv'), media: creative.media.map((one) => ({ ...one, duration_ms })) };
  });

const lines = fc.array(
  fc
    .record({
      type: fc.constantFrom('sponsorship' as const, 'guaranteed' as const, 'non_guaranteed' as const, 'house' as const),
      priority: fc.integer({ min: 1, max: 3 }),
      advertiser_id: fc.constantFrom('adv_1', 'adv_2', 'adv_3'),
      frequency_caps: fc.array(fc.constant({ max: 2, per: 'listener_bucket' as const, window_seconds: 3_600 }), {
        maxLength: 1,
      }),
      creative_rotation: fc.constantFrom('weighted' as const, 'sequential' as const),
      durations: fc.array(fc.integer({ min: 5_000, max: 60_000 }), { minLength: 1, maxLength: 3 }),
      limit: fc.integer({ min: 1, max: 12 }),
    })
    .map(({ durations, limit, ...given }) =>
      lineItem({
        ...given,
        creatives: creativesOf(durations),
        goal:
          given.type === 'sponsorship'
            ? { unit: 'share_pct', quantity: limit * 8 }
            : given.type === 'guaranteed'
              ? { unit: 'impressions', quantity: limit }
              : { unit: 'unlimited' },
      }),
    ),
  { minLength: 6, maxLength: 30 },
);

test('random decisions with goals, caps, shares and halts replay to the same bytes, also after the plan changed', async () => {
  const workspaceId = newId('ws');
  const booked = fc.sample(lines, { numRuns: 1, seed: 42 })[0]!;
  const first = await engines.publishPlan(workspaceId, booked);
  await untilDecidedBy(node, workspaceId, first.servingPlanId);
  const listeners = Array.from({ length: 3 }, (_, at) => Buffer.alloc(16, at + 1));
  const decided: string[] = [];
  let empty = 0;
  const playMore = async (count: number) => {
    for (let play = 0; play < count; play++) {
      const breaks = [
        { ...preroll, maxSlots: 3, maxDurationMs: 90_000n },
        { ...preroll, key: 'mid', position: 'mid', positionMs: 600_000n },
      ];
      const request = playOf(workspaceId, { breaks, listenerBucket: listeners[play % 3]! });
      const answer = await node.client.decide(request, {});
      decided.push(request.decisionId);
      if (answer.picks.length === 0) empty++;
    }
  };
  await playMore(60);
  await engines.tell(workspaceId, { type: 'line_items', id: booked[0]!.line_item_id, version: 2, state: 'paused' });
  await engines.tell(workspaceId, {
    type: 'serving_halts',
    id: newId('hlt'),
    version: 1,
    state: 'active',
    attributes: { scope: { kind: 'line_item', line_item_id: booked[1]!.line_item_id } },
  });
  const pool = createPool(engines.database.url, 'serving', { name: 'test', max: 1 });
  await until(async () => {
    await playMore(5);
    return (await storedOf(pool, decided.at(-1)!))?.inputs?.suspensions !== null;
  });
  const second = await engines.publishPlan(workspaceId, booked.slice(3));
  await untilDecidedBy(node, workspaceId, second.servingPlanId);
  await playMore(20);

  expect(empty).toBeLessThan(decided.length / 2);
  for (const decisionId of decided) {
    const replay = await operator.replay({ workspaceId, decisionId }, {});
    expect(replay).toMatchObject({ status: 'identical', replayedOutputDigest: replay.storedOutputDigest });
  }
  const stored = await Promise.all(decided.map((decisionId) => storedOf(pool, decisionId)));
  const { rows } = await pool.query<{ packed: Buffer }>('select packed from packed_decision where workspace_id = $1', [
    idToUuid(workspaceId),
  ]);
  await pool.end();
  expect(rows.length).toBeGreaterThan(decided.length);
  for (const listener of listeners) {
    expect(JSON.stringify(stored)).not.toContain(listener.toString('hex'));
    expect(rows.some(({ packed }) => packed.includes(listener))).toBe(false);
  }
});

test('random decisions that know credit and urgency replay to the same bytes', async () => {
  const workspaceId = newId('ws');
  const booked = fc.sample(lines, { numRuns: 1, seed: 7 })[0]!;
  const crowd = Array.from({ length: 300 }, () => guaranteed(1_000));
  const published = await engines.publishPlan(workspaceId, [...booked, ...crowd]);
  const index = await loadPlan(engines.store, workspaceId, { ...published, policiesDigest: undefined });
  const pool = createPool(engines.database.url, 'serving', { name: 'test', max: 1 });
  const random = fc.sample(
    fc.record({ slots: fc.integer({ min: -3, max: 3 }), level: fc.constantFrom<UrgencyLevel>(0, 0, 1, 2, 3) }),
    { numRuns: index.lines.length, seed: 8 },
  );
  const left = new Map(index.lines.map(({ lineItemId }, at) => [lineItemId, Math.max(0, random[at]!.slots)]));
  const urgency = createUrgency(index.lines.length);
  random.forEach(({ level }, ordinal) => setUrgency(urgency, ordinal, level));
  const credit: GoalCredit = {
    creditOf: () => {
      const bits = createBits(index.lines.length);
      index.lines.forEach(({ lineItemId }, ordinal) => left.get(lineItemId)! > 0 && addBit(bits, ordinal));
      return bits;
    },
    remainingOf: () => (ordinal) => left.get(index.lines[ordinal]!.lineItemId)!,
    urgencyOf: () => urgency,
    addAsked: () => undefined,
  };
  const goals: GoalCounting = {
    remaining: (lineItemId) => left.get(lineItemId)!,
    reserve: (requests) => {
      for (const { lineItemId, slots } of requests) left.set(lineItemId, left.get(lineItemId)! - slots);
      return { kind: 'counted', slots: [], spending: { nodeEpoch: 0, settle: () => undefined } };
    },
  };
  const archive = createDecisionArchive(pool, engines.store, readerOf(pool));
  const decidePlay = createDecidePlay({
    decisions: archive,
    plans: { find: () => ({ ...published, policiesDigest: undefined, index }), isAwaited: () => false },
    suspensions: { active: async () => ({ digest: null, lines: undefined }) },
    node: {
      begin: () => ({ mode: 'lease', goals, credit, nodeEpoch: 0, [Symbol.dispose]: () => undefined }),
    },
    listeners: { read: async () => undefined, write: async () => undefined, forget: async () => 0 },
    shares: { shareOf: () => ({ served: 1, opportunities: 9 }), count: () => undefined },
    write: createDecisionWriter(insertInto(pool)),
    logger: createLogger('internal-serving', 'silent'),
  });
  const breaks = ['pre', 'mid'].map((key) => ({ ...preroll, key, position: key, maxSlots: 3, maxDurationMs: 90_000n }));
  const statuses = new Map<string, number>();
  let urgentFirst = 0;
  for (let play = 0; play < 80; play++) {
    const request = playOf(workspaceId, { breaks });
    const answer = await decidePlay(request, {
      deadline: new Date(Date.now() + 60_000),
      signal: AbortSignal.timeout(60_000),
    });
    const { decisionId } = request;
    const stored = (await archive.find(decisionId))!.inputs!;
    const { status } = await operator.replay({ workspaceId, decisionId }, {});
    const kind = `format ${stored.told.format}: ${status}`;
    statuses.set(kind, (statuses.get(kind) ?? 0) + 1);
    if (stored.told.urgency) urgentFirst++;
    expect(Object.keys(stored.told.room!).length).toBeLessThan(60);
    expect(answer.picks.length + answer.noAdReason.length).toBeGreaterThan(0);
  }
  await pool.end();
  expect([...statuses]).toEqual([['format 2: identical', 80]]);
  expect(urgentFirst).toBeGreaterThan(20);

  await untilDecidedBy(node, workspaceId, published.servingPlanId);
  const leased = playOf(workspaceId, { breaks });
  await node.client.decide(leased, {});
  expect((await operator.replay({ workspaceId, decisionId: leased.decisionId }, {})).status).toBe('identical');
});

test('a decision with changed inputs differs, and one whose plan or suspensions are gone has inputs_expired', async () => {
  const workspaceId = newId('ws');
  const booked = guaranteed(1_000);
  const { servingPlanId, digest } = await engines.publishPlan(workspaceId, [booked]);
  await untilDecidedBy(node, workspaceId, servingPlanId);
  const asked = { workspaceId, decisionId: '' };
  await until(async () => {
    asked.decisionId = newId('dec');
    return (await node.client.decide(playOf(workspaceId, { decisionId: asked.decisionId }), {})).picks.length === 1;
  });
  const pool = createPool(engines.database.url, 'serving', { name: 'test', max: 1 });
  const stored = (await storedOf(pool, asked.decisionId))!;
  const change = (inputs: Partial<StoredInputs>) => {
    const changed = { ...stored, decisionId: asked.decisionId, inputs: { ...stored.inputs!, ...inputs } };
    const list = listDecision({
      ...changed,
      shareOpportunities: [],
      shareServings: [],
      mode: 'lease' as const,
      nodeEpoch: 0,
    });
    return pool.query('update packed_decision set packed = $2 where decision_id = $1', [
      idToUuid(asked.decisionId),
      packDecision(stored.requestDigest, list, noTexts),
    ]);
  };
  const { storedOutputDigest } = await operator.replay(asked, {});
  await change({ told: { ...stored.inputs!.told, room: { [booked.line_item_id]: 0 } } });
  const differing = await operator.replay(asked, {});
  await change({ suspensions: 'gone' });
  const unsuspended = await operator.replay(asked, {});
  // Of a release before replay.
  const older = decisionOf({ workspaceId });
  await insertByRelease4(pool, [older]);
  await pool.query('update decision set inputs = null where decision_id = $1', [older.decisionId]);
  const old = await operator.replay({ workspaceId, decisionId: older.decisionId }, {});
  await pool.end();
  expect(differing).toMatchObject({ status: 'differs', storedOutputDigest });
  expect(differing.replayedOutputDigest).not.toBe(storedOutputDigest);
  expect(unsuspended).toMatchObject({ status: 'inputs_expired', replayedOutputDigest: '' });
  expect(old).toMatchObject({ status: 'inputs_expired', replayedOutputDigest: '' });

  const fresh = playOf(workspaceId);
  await node.client.decide(fresh, {});
  await engines.store.remove(`plans/${digest}.json`);
  await using late = await engines.startNode();
  const other = engines.clientAs('operator', late.port);
  expect(await other.replay({ workspaceId, decisionId: fresh.decisionId }, {})).toMatchObject({
    status: 'inputs_expired',
  });
  other.close();
});

test('the trace names every stage and verdict, and no listener, price or other workspace', async () => {
  const workspaceId = newId('ws');
  const priced = lineItem({
    type: 'non_guaranteed',
    cpm_micros: 12_345_678,
    frequency_caps: [{ max: 1, per: 'listener_bucket', window_seconds: 60 }],
  });
  const { servingPlanId, digest } = await engines.publishPlan(workspaceId, [priced, lineItem()]);
  await untilDecidedBy(node, workspaceId, servingPlanId);
  const plays = [playOf(workspaceId), playOf(workspaceId)];
  for (const play of plays) await node.client.decide(play, {});
  const { traceJson } = await operator.explain({ workspaceId, decisionId: plays[1]!.decisionId }, {});
  const trace = JSON.parse(traceJson);
  expect(trace).toMatchObject({
    decision_id: plays[1]!.decisionId,
    index_version: digest,
    request_class: { listener_bucket: 'present', country: 'DE' },
    picks: [{ break_key: 'pre', slot: 0 }],
    replay: { status: 'identical' },
  });
  expect(trace.stages.map((stage: { name: string }) => stage.name)).toEqual([
    'eligibility',
    'goals',
    'frequency',
    'separation',
    'pacing',
    'selection',
  ]);
  expect(trace.candidates).toContainEqual(
    expect.objectContaining({ line_item_id: priced.line_item_id, verdict: 'capped' }),
  );
  expect(trace.seed).toEqual(expect.any(Number));
  for (const digestOf of [trace.input_digest, trace.output_digest]) expect(digestOf).toMatch(/^[0-9a-f]{64}$/);
  expect(traceJson).not.toMatch(/12345678|heard|0707070707/);
  for (const ask of [operator.explain, operator.replay])
    await expect(ask({ workspaceId: newId('ws'), decisionId: plays[1]!.decisionId }, {})).rejects.toMatchObject({
      code: 'not_found',
    });
  await expect(node.client.explain({ workspaceId, decisionId: plays[1]!.decisionId }, {})).rejects.toMatchObject({
    code: 'permission_denied',
  });
});

test('whatever a play says, its trace has no address, user agent, listener key, price, click address or token', async () => {
  const workspaceId = newId('ws');
  const hostile = [
    '203.0.113.77',
    '2001:db8::77',
    'AppleCoreMedia/1.0.0.20G75 (iPhone; U; CPU OS 16_6)',
    'b2f1c0a99e8d7766554433221100ffee',
    'Zm9vYmFyYmF6cXV4cXV1eGNvcmdlZ3JhdWx0Z2FycGx5',
    'https://tracker.example/?token=1',
  ];
  const sold = lineItem({
    type: 'non_guaranteed',
    cpm_micros: 87_654_321,
    creatives: [{ ...lineItem().creatives[0]!, click_url: 'https://shop.example/?token=secret' }],
  });
  const { servingPlanId } = await engines.publishPlan(workspaceId, [sold]);
  await untilDecidedBy(node, workspaceId, servingPlanId);
  const listenerBucket = Buffer.from('c0ffee00c0ffee00c0ffee00c0ffee00', 'hex');
  for (const text of hostile) {
    const play = playOf(workspaceId, {
      ...{ listenerBucket, device: text, operatingSystem: text, app: text, language: text, contentCategories: [text] },
      ...{ surface: text, breaks: [{ ...preroll, key: text }] },
    });
    await node.client.decide(play, {});
    const { traceJson } = await operator.explain({ workspaceId, decisionId: play.decisionId }, {});
    expect(traceJson).not.toContain(text);
    expect(traceJson).not.toMatch(/c0ffee00|87654321|shop\.example|secret|"ab(ab){31}"/);
    const trace = JSON.parse(traceJson) as DecisionTrace;
    expect(decisionTraceSchema.strict().parse(trace)).toEqual(trace);
    expect(trace).toMatchObject({
      replay: { status: 'identical' },
      request_class: { app: 'other', breaks: [{ key: 'break-1' }] },
      picks: [{ break_key: 'break-1', line_item_id: sold.line_item_id }],
      candidates: [{ break_key: 'break-1', verdict: 'won' }],
    });
  }
});

test('a line item for an operating system serves there alone; a decision from before that field replays identically', async () => {
  const workspaceId = newId('ws');
  const forPhones = lineItem({
    targeting: { ...anyTargeting, operating_systems: { include: ['iOS', 'Android'], exclude: [] } },
  });
  const notThere = lineItem({ targeting: { ...anyTargeting, operating_systems: { include: [], exclude: ['iOS'] } } });
  const { servingPlanId } = await engines.publishPlan(workspaceId, [forPhones, notThere]);
  await untilDecidedBy(node, workspaceId, servingPlanId);
  const servedOn = async (operatingSystem: string) => {
    const play = playOf(workspaceId, { operatingSystem });
    const { picks } = await node.client.decide(play, {});
    const replayed = await operator.replay({ workspaceId, decisionId: play.decisionId }, {});
    expect(replayed.status).toBe('identical');
    return { decisionId: play.decisionId, served: picks.map(({ lineItemId }) => lineItemId) };
  };
  expect((await servedOn('iOS')).served).toEqual([forPhones.line_item_id]);
  expect((await servedOn('Windows')).served).toEqual([notThere.line_item_id]);
  const unknown = await servedOn('');
  expect(unknown.served).toEqual([notThere.line_item_id]);
  const pool = createPool(engines.database.url, 'serving', { name: 'test', max: 1 });
  const stored = (await storedOf(pool, unknown.decisionId))!;
  const { operatingSystem: _none, ...context } = stored.inputs!.context;
  await pool.query('delete from packed_decision where decision_id = $1', [idToUuid(unknown.decisionId)]);
  const inputs = { ...stored.inputs!, context: context as StoredInputs['context'] };
  await insertByRelease4(pool, [decisionOf({ ...stored, decisionId: unknown.decisionId, inputs })]);
  await pool.end();
  const older = await operator.replay({ workspaceId, decisionId: unknown.decisionId }, {});
  expect(older.status).toBe('identical');
});
