import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { createPool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { createCurrentPlans } from '../src/plans/current-plans.ts';
import { lineItem, planOf, playOf, startEngines, untilDecidedBy, type Engines, type Node } from './_support.ts';

let engines: Engines;
let node: Node;

beforeAll(async () => {
  engines = await startEngines();
  node = await engines.startNode();
});

afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await engines[Symbol.asyncDispose]();
});

const planThatDecides = async (workspaceId: string) =>
  (await node.client.decide(playOf(workspaceId), {})).servingPlanId;

test('the plan published last decides, in whatever order the events come, and a superseded one does not', async () => {
  const workspaceId = newId('ws');
  const digest = await engines.storePlan(planOf(workspaceId, [lineItem()]));
  const [old, current] = [newId('spl'), newId('spl')];
  await engines.announce(workspaceId, { servingPlanId: current, digest, occurredAt: '2026-02-02T00:00:00Z' });
  await untilDecidedBy(node, workspaceId, current);
  await engines.announce(workspaceId, { servingPlanId: old, digest, occurredAt: '2026-02-01T00:00:00Z' });
  await engines.announce(workspaceId, { servingPlanId: current, digest, state: 'superseded', version: 4 });
  await untilDecidedBy(node, workspaceId, old);
  await engines.announce(workspaceId, { servingPlanId: current, digest, occurredAt: '2026-02-02T00:00:00Z' });
  await engines.announce(workspaceId, { servingPlanId: old, digest, state: 'superseded', version: 4 });
  await until(async () => (await planThatDecides(workspaceId)) === '');
});

test('a plan that was rolled back decides until the earlier one is published again', async () => {
  const workspaceId = newId('ws');
  const digest = await engines.storePlan(planOf(workspaceId, [lineItem()]));
  const [wrong, again] = [newId('spl'), newId('spl')];
  await engines.announce(workspaceId, { servingPlanId: wrong, digest, occurredAt: '2026-02-01T00:00:00Z' });
  await untilDecidedBy(node, workspaceId, wrong);
  const rolledBack = { servingPlanId: wrong, digest, state: 'rolled_back', version: 4 };
  await engines.announce(workspaceId, { ...rolledBack, occurredAt: '2026-02-02T00:00:00Z' });
  const pool = createPool(engines.database.url, 'serving', { name: 'test', max: 1 });
  const asked = `select from published_plan where serving_plan_id = $1 and lifecycle_state = 'rolled_back'`;
  await until(async () => (await pool.query(asked, [wrong])).rowCount === 1);
  await pool.end();
  // A poll of the table that is certainly later.
  const elsewhere = newId('ws');
  await untilDecidedBy(node, elsewhere, (await engines.publishPlan(elsewhere, [lineItem()])).servingPlanId);
  expect(await planThatDecides(workspaceId)).toBe(wrong);
  await engines.announce(workspaceId, { servingPlanId: again, digest, occurredAt: '2026-02-03T00:00:00Z' });
  await untilDecidedBy(node, workspaceId, again);
});

test('a corrupted plan, one of another workspace and an invalid one are refused, and the old one stays', async () => {
  const workspaceId = newId('ws');
  const { servingPlanId: good } = await engines.publishPlan(workspaceId, [lineItem()]);
  await untilDecidedBy(node, workspaceId, good);

  const corrupted = await engines.storePlan(planOf(workspaceId, [lineItem()]));
  const body = Buffer.from(JSON.stringify(planOf(workspaceId, [lineItem(), lineItem()])));
  await engines.store.put(`plans/${corrupted}.json`, body, { contentType: 'application/json' });
  const foreign = await engines.storePlan(planOf(newId('ws'), [lineItem()]));
  const twice = lineItem();
  const senseless = await engines.storePlan(planOf(workspaceId, [twice, twice]));
  const unknownField = await engines.storePlan({ ...planOf(workspaceId, []), extra: true } as never);
  for (const [digest, reason] of [
    [corrupted, 'digest'],
    [foreign, 'belongs to'],
    [senseless, 'twice'],
    [unknownField, 'extra'],
  ] as const) {
    const servingPlanId = newId('spl');
    await engines.announce(workspaceId, { servingPlanId, digest });
    await until(() => node.log.some((line) => line.includes(servingPlanId) && line.includes(reason)));
    expect(await planThatDecides(workspaceId)).toBe(good);
  }
});

test('while the object store is down the last good plan decides; when it is back the new one does', async () => {
  const workspaceId = newId('ws');
  const { servingPlanId: old } = await engines.publishPlan(workspaceId, [lineItem()]);
  await untilDecidedBy(node, workspaceId, old);
  const digest = await engines.storePlan(planOf(workspaceId, [lineItem(), lineItem()]));
  await engines.stopStore();
  const fresh = newId('spl');
  await engines.announce(workspaceId, { servingPlanId: fresh, digest });
  await until(() => node.log.some((line) => line.includes('plan.refused') && line.includes(fresh)));
  expect(await planThatDecides(workspaceId)).toBe(old);
  expect((await node.client.decide(playOf(workspaceId), {})).picks).toHaveLength(1);
  await engines.startStore();
  await untilDecidedBy(node, workspaceId, fresh);
});

test('a node that starts later decides by the plans that were published before', async () => {
  const workspaceId = newId('ws');
  const { servingPlanId } = await engines.publishPlan(workspaceId, [lineItem()]);
  await untilDecidedBy(node, workspaceId, servingPlanId);
  await using late = await engines.startNode();
  await untilDecidedBy(late, workspaceId, servingPlanId);
});

test('a plan that is published but cannot be loaded yet is no decision: the call fails, nothing is stored, and later it decides', async () => {
  const workspaceId = newId('ws');
  const digest = await engines.storePlan(planOf(workspaceId, [lineItem()]));
  await engines.stopStore();
  const servingPlanId = newId('spl');
  await engines.announce(workspaceId, { servingPlanId, digest });
  await until(() => node.log.some((line) => line.includes('plan.refused') && line.includes(servingPlanId)));
  const play = playOf(workspaceId);
  await expect(node.client.decide(play, {})).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await engines.startStore();
  await untilDecidedBy(node, workspaceId, servingPlanId);
  expect((await node.client.decide(play, {})).picks).toHaveLength(1);
});

test('only public-delivery and the operator may call Decide', async () => {
  await using late = await engines.startNode();
  expect((await late.client.decide(playOf(newId('ws')), {})).noAdReason).toBe('no_plan');
  const stranger = engines.clientAs('encoder', late.port);
  const refusal = await stranger.decide(playOf(newId('ws')), {}).catch((error: unknown) => error);
  stranger.close();
  expect(refusal).toBeInstanceOf(Problem);
  expect((refusal as Problem).code).toBe('permission_denied');
});

test('a plan that the object store is slow to deliver is awaited from the moment it is known', async () => {
  const workspaceId = newId('ws');
  const digest = await engines.storePlan(planOf(workspaceId, [lineItem()]));
  const [asked, given] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slowStore: typeof engines.store = {
    ...engines.store,
    get: async (key) => {
      if (key.includes(digest)) {
        asked.resolve();
        await given.promise;
      }
      return engines.store.get(key);
    },
  };
  const pool = createPool(engines.database.url, 'serving', { name: 'test', max: 1 });
  await using _ = { [Symbol.asyncDispose]: () => pool.end() };
  const plans = createCurrentPlans(pool, slowStore, () => new Date(), createLogger('test', 'silent'));
  await plans.refresh();
  expect(plans.isAwaited(workspaceId)).toBe(false);

  const servingPlanId = newId('spl');
  await engines.announce(workspaceId, { servingPlanId, digest });
  await untilDecidedBy(node, workspaceId, servingPlanId);
  const refreshed = plans.refresh();
  await asked.promise;
  expect(plans.isAwaited(workspaceId)).toBe(true);
  given.resolve();
  await refreshed;
  expect(plans.isAwaited(workspaceId)).toBe(false);
  expect(plans.find(workspaceId)?.digest).toBe(digest);
});
