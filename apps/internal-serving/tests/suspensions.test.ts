import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
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

async function workspaceWith(lines: Parameters<Engines['publishPlan']>[1]): Promise<string> {
  const workspaceId = newId('ws');
  const { servingPlanId } = await engines.publishPlan(workspaceId, lines);
  await untilDecidedBy(node, workspaceId, servingPlanId);
  return workspaceId;
}

const answerOf = (workspaceId: string, given = {}) => node.client.decide(playOf(workspaceId, given), {});
const serves = async (workspaceId: string, given = {}) => (await answerOf(workspaceId, given)).picks.length === 1;

async function within5s(holds: () => Promise<boolean>): Promise<void> {
  const started = performance.now();
  await until(holds);
  expect(performance.now() - started).toBeLessThan(5_000);
}

test('a halt of each kind takes effect within 5 s without a new plan, and ends when it is released', async () => {
  const line = lineItem();
  const workspaceId = await workspaceWith([line]);
  const podcastId = newId('pod');
  for (const scope of [
    { kind: 'workspace' },
    { kind: 'show', podcast_id: podcastId },
    { kind: 'line_item', line_item_id: line.line_item_id },
    { kind: 'creative', creative_id: line.creatives[0]!.creative_id },
    { kind: 'surface', surface: 'progressive' },
  ]) {
    const halt = { type: 'serving_halts', id: newId('hlt'), attributes: { scope, cause: 'complaint' } };
    await engines.tell(workspaceId, { ...halt, version: 1, state: 'active' });
    await within5s(async () => !(await serves(workspaceId, { podcastId })));
    expect((await answerOf(workspaceId, { podcastId })).noAdReason).toBe('halted');
    if (scope.kind === 'show') expect(await serves(workspaceId)).toBe(true);
    await engines.tell(workspaceId, { ...halt, version: 2, state: 'released' });
    await within5s(() => serves(workspaceId, { podcastId }));
  }
});

test('a suspended workspace serves nothing within 5 s, and serves again when it is resumed', async () => {
  const workspaceId = await workspaceWith([lineItem()]);
  const workspace = { type: 'workspaces', id: workspaceId, attributes: {} };
  await engines.tell(workspaceId, { ...workspace, version: 2, state: 'suspended' });
  await within5s(async () => !(await serves(workspaceId)));
  expect((await answerOf(workspaceId)).noAdReason).toBe('halted');
  await engines.tell(workspaceId, { ...workspace, version: 3, state: 'active' });
  await within5s(() => serves(workspaceId));
  await engines.tell(workspaceId, { ...workspace, version: 5, state: 'closed' });
  await within5s(async () => !(await serves(workspaceId)));
});

test('a line item, campaign, advertiser, creative or assignment that no longer serves takes effect within 5 s, and so does its return', async () => {
  const line = lineItem();
  const workspaceId = await workspaceWith([line]);
  const creativeId = line.creatives[0]!.creative_id;
  for (const [type, id, out, back, attributes] of [
    ['line_items', line.line_item_id, 'paused', 'delivering', {}],
    ['campaigns', line.campaign_id, 'paused', 'active', {}],
    ['advertisers', line.advertiser_id, 'suspended', 'active', {}],
    ['creatives', creativeId, 'suspended', 'approved', {}],
    [
      'creative_assignments',
      newId('cas'),
      'paused',
      'active',
      { line_item_id: line.line_item_id, creative_id: creativeId },
    ],
  ] as const) {
    await engines.tell(workspaceId, { type, id, version: 7, state: out, attributes });
    await within5s(async () => !(await serves(workspaceId)));
    await engines.tell(workspaceId, { type, id, version: 6, state: back, attributes });
    await engines.tell(workspaceId, { type, id, version: 8, state: back, attributes });
    await within5s(() => serves(workspaceId));
  }
});

test('a creative that is assigned again serves, whatever became of its earlier assignments', async () => {
  const line = lineItem();
  const workspaceId = await workspaceWith([line]);
  const attributes = { line_item_id: line.line_item_id, creative_id: line.creatives[0]!.creative_id };
  const [first, second] = [newId('cas'), newId('cas')];
  const tell = (id: string, version: number, state: string) =>
    engines.tell(workspaceId, { type: 'creative_assignments', id, version, state, attributes });
  await tell(first, 1, 'ended');
  await within5s(async () => !(await serves(workspaceId)));
  await tell(second, 1, 'draft');
  await tell(second, 2, 'active');
  await within5s(() => serves(workspaceId));
  await tell(second, 3, 'paused');
  await within5s(async () => !(await serves(workspaceId)));
});

test('a suspension holds under a newer plan and on a node that starts later, and has no effect in another workspace', async () => {
  const line = lineItem();
  const [workspaceId, elsewhere] = [await workspaceWith([line]), await workspaceWith([line])];
  await engines.tell(workspaceId, { type: 'line_items', id: line.line_item_id, version: 2, state: 'paused' });
  await until(async () => !(await serves(workspaceId)));
  const { servingPlanId } = await engines.publishPlan(workspaceId, [
    line,
    lineItem({ window: { start: '2020-01-01T00:00:00Z', end: '2020-01-02T00:00:00Z' } }),
  ]);
  await untilDecidedBy(node, workspaceId, servingPlanId);
  expect(await serves(workspaceId)).toBe(false);
  expect(await serves(elsewhere)).toBe(true);
  await using late = await engines.startNode();
  await untilDecidedBy(late, workspaceId, servingPlanId);
  expect((await late.client.decide(playOf(workspaceId), {})).picks).toEqual([]);
});

test('a plan that the object store never delivers delays no halt', async () => {
  const line = lineItem();
  const workspaceId = await workspaceWith([line]);
  const digest = await engines.storePlan(planOf(workspaceId, [line, lineItem()]));
  process.kill(engines.storePid(), 'SIGSTOP');
  try {
    await engines.announce(workspaceId, { servingPlanId: newId('spl'), digest });
    await engines.tell(workspaceId, { type: 'line_items', id: line.line_item_id, version: 2, state: 'paused' });
    await within5s(async () => !(await serves(workspaceId)));
  } finally {
    process.kill(engines.storePid(), 'SIGCONT');
  }
});
