import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anyTargeting, type PlanLineItem } from '@longwave/events';
import { newId } from '@longwave/ids';
import {
  lineItem,
  planOf,
  playOf,
  preroll,
  startEngines,
  untilDecidedBy,
  type Engines,
  type GivenPolicy,
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

/** A plan of a new workspace, which can be published again under other policies, as management does when they change. */
async function publishedPlan(lineItems: PlanLineItem[]) {
  const workspaceId = newId('ws');
  const digest = await engines.storePlan(planOf(workspaceId, lineItems));
  let published = 0;
  const under = async (policies: readonly GivenPolicy[]) => {
    const servingPlanId = newId('spl');
    const policiesDigest = policies.length > 0 ? await engines.storePolicies(workspaceId, policies) : undefined;
    const occurredAt = new Date(Date.UTC(2026, 0, 1) + ++published).toISOString();
    await engines.announce(workspaceId, {
      servingPlanId,
      digest,
      occurredAt,
      ...(policiesDigest && { policiesDigest }),
    });
    await untilDecidedBy(node, workspaceId, servingPlanId);
  };
  const decide = async (given: Parameters<typeof playOf>[1] = {}) => {
    const play = playOf(workspaceId, given);
    const { picks } = await node.client.decide(play, {});
    const { traceJson } = await operator.explain({ workspaceId, decisionId: play.decisionId }, {});
    const trace = JSON.parse(traceJson) as {
      policy_versions: unknown;
      candidates: { line_item_id: string; verdict: string }[];
      replay: { status: string };
    };
    expect(trace.replay.status).toBe('identical');
    const verdicts = trace.candidates.map(({ verdict }) => verdict);
    return { picks: picks.map((pick) => pick.lineItemId), verdicts, policies: trace.policy_versions };
  };
  return { workspaceId, under, decide };
}

const preAndPost = { breaks: [preroll, { ...preroll, key: 'post', position: 'post', positionMs: 600_000n }] };

/** Per kind: a line item that serves without the policy, its rules, a play, and what is left of the play's ads under the policy. */
const kinds = [
  {
    kind: 'frequency',
    rules: { caps: [{ max: 1, per: 'episode', window_seconds: 86_400 }] },
    line: {},
    play: preAndPost,
    served: [2, 1],
  },
  {
    kind: 'separation',
    rules: { advertiser: { scope: 'episode' } },
    line: {},
    play: preAndPost,
    served: [2, 1],
  },
  {
    kind: 'brand_safety',
    rules: { blocked_ad_categories: ['alcohol'] },
    line: { ad_product_categories: ['alcohol'] },
    play: {},
    served: [1, 0],
  },
  { kind: 'ad_load', rules: { max_ads_per_play: 1 }, line: {}, play: preAndPost, served: [2, 1] },
  {
    kind: 'privacy',
    rules: { blocked_targeting: ['countries'] },
    line: { targeting: { ...anyTargeting, countries: { include: ['DE'], exclude: [] } } },
    play: {},
    served: [1, 0],
  },
] as const;

test.each(kinds)(
  'a $kind policy is obeyed once the plan has it, named in the trace, and no longer when the plan comes without it',
  async ({ kind, rules, line, play, served: [before, under] }) => {
    const plan = await publishedPlan([lineItem({ ...line } as Partial<PlanLineItem>)]);
    await plan.under([]);
    const free = await plan.decide(play);
    expect(free).toMatchObject({ picks: { length: before }, policies: [] });
    const id = newId('pol');
    await plan.under([{ id, kind, rules } as unknown as GivenPolicy]);
    const policed = await plan.decide(play);
    expect(policed.picks).toHaveLength(under);
    expect(policed.policies).toEqual([{ id, version: 1, kind }]);
    expect(policed.verdicts).toContain(`policy_${kind}`);
    await plan.under([]);
    expect(await plan.decide(play)).toEqual(free);
  },
);

test('a policy of some podcasts is obeyed in them alone', async () => {
  const podcastId = newId('pod');
  const plan = await publishedPlan([lineItem({ ad_product_categories: ['alcohol'] })]);
  const place = { podcasts: [podcastId], episodes: [] };
  await plan.under([{ id: newId('pol'), kind: 'brand_safety', place, rules: { blocked_ad_categories: ['alcohol'] } }]);
  expect((await plan.decide({ podcastId })).picks).toEqual([]);
  expect(await plan.decide()).toMatchObject({ picks: { length: 1 }, policies: [] });
});

test('a cap of a policy counts the plays of one listener, and no other listener’s', async () => {
  const plan = await publishedPlan([lineItem()]);
  const caps = [{ max: 2, per: 'listener_bucket' as const, window_seconds: 86_400 }];
  await plan.under([{ id: newId('pol'), kind: 'frequency', rules: { caps } }]);
  const servedTo = async (bucket: number) =>
    (await plan.decide({ listenerBucket: Buffer.alloc(16, bucket) })).picks.length;
  expect([await servedTo(1), await servedTo(1), await servedTo(1), await servedTo(2)]).toEqual([1, 1, 0, 1]);
});

test('a plan whose policies cannot be read is refused, and the one before decides', async () => {
  const plan = await publishedPlan([lineItem()]);
  await plan.under([]);
  const digest = await engines.storePlan(planOf(plan.workspaceId, [lineItem()]));
  const servingPlanId = newId('spl');
  await engines.announce(plan.workspaceId, { servingPlanId, digest, policiesDigest: 'ab'.repeat(32) });
  const elsewhere = newId('ws');
  await untilDecidedBy(node, elsewhere, (await engines.publishPlan(elsewhere, [lineItem()])).servingPlanId);
  expect(node.log.some((line) => line.includes('plan.refused') && line.includes(servingPlanId))).toBe(true);
  expect((await plan.decide()).picks).toHaveLength(1);
});

test('a renewed plan keeps its place: one that was published after the original goes before the renewal', async () => {
  const workspaceId = newId('ws');
  const digest = await engines.storePlan(planOf(workspaceId, [lineItem()]));
  const [original, next, renewal] = [newId('spl'), newId('spl'), newId('spl')];
  const day = (n: number) => `2026-02-0${n}T00:00:00Z`;
  await engines.announce(workspaceId, { servingPlanId: original, digest, occurredAt: day(1) });
  await untilDecidedBy(node, workspaceId, original);
  await engines.announce(workspaceId, { servingPlanId: renewal, digest, occurredAt: day(3), publishedAt: day(1) });
  await untilDecidedBy(node, workspaceId, renewal);
  await engines.announce(workspaceId, { servingPlanId: next, digest, occurredAt: day(2) });
  await untilDecidedBy(node, workspaceId, next);
});
