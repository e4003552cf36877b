import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildIndex, decide, type PlanIndex } from '@longwave/ad-decision';
import { planPoliciesKey, planPoliciesSchema, servingPlanSchema, type ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { createCompileHandler } from '../src/advertising/serving-plans/compile-serving-plan.ts';
import type { ListAdEvents } from '../src/advertising/trackers/collect-events.ts';
import { startTrackers } from '../src/advertising/trackers/start-trackers.ts';
import { claimJob } from '../src/background/job-table.ts';
import { inlineAd, vast, wrapper } from './_demand-host.ts';
import { startDemandWorld, type DemandWorld } from './_demand-world.ts';
import { media, window } from './_values.ts';
import { createWorld, type World } from './_world.ts';

type AdEvent = Awaited<ReturnType<ListAdEvents>>['events'][number];

let demand: DemandWorld;
beforeAll(async () => {
  demand = await startDemandWorld();
});
afterAll(async () => demand[Symbol.asyncDispose]());

const price = (euros: number) => ({ amount_micros: String(euros * 1_000_000), currency: 'EUR' });
const byPrice = (euros: number) => ({
  ...{ type: 'non_guaranteed', goal: { unit: 'unlimited' }, rate: { model: 'cpm', price: price(euros) } },
});

/** A booked line item whose ads a source answers with, of an advertiser with a product category. */
async function demandLine(world: World, category: string) {
  const legal_name = 'Example Exchange';
  const advertiser = await world.send('advertiser.create', null, {
    ...{ legal_name, brands: [], ad_product_categories: [category] },
  });
  const campaign = await world.send('campaign.create', null, {
    ...{ advertiser_id: advertiser.id, name: legal_name, window: world.around(1_000 * 3_600_000) },
  });
  await world.send('campaign.activate', await world.send('campaign.submit', campaign, {}), {});
  const draft = await world.demandLineItem({ campaign_id: campaign.id });
  const source = await demand.asked(world, { line_item_id: draft.id });
  await demand.prepare(world, source);
  const [creative, ...others] = await demand.creativesOf(world, source);
  expect(others).toEqual([]);
  const lineItem = await world.send('line_item.book', await world.send('line_item.submit', draft, {}), {});
  return { lineItem, creative: creative! };
}

/** Compiles and publishes a plan, and reads it as a service that decides does. */
async function planInForce(world: World): Promise<PlanIndex> {
  const { management } = demand;
  const requested = await world.send('serving_plan.compile', null, { effective_from: window.start });
  const job = (await claimJob(management.pool, ['compile_serving_plan'], 'test', 30_000))!;
  await createCompileHandler(management).run(job, new AbortController().signal);
  const { rows } = await management.pool.query<ResourceView>('select * from resource where id = $1', [requested.id]);
  const { attributes } = await world.send('serving_plan.publish', rows[0]!, {});
  const read = async (key: string) => json(await management.store.get(key));
  const { policies } = planPoliciesSchema.parse(await read(planPoliciesKey(String(attributes['policies_digest']))));
  return buildIndex(servingPlanSchema.parse(await read(String(attributes['storage_key']))), policies);
}

/** One slot before an episode of a podcast: what fills it, and what was said of each line item. */
function decideIn(index: PlanIndex, podcast: ResourceView) {
  const { picks, candidates } = decide(index, {
    ...{ decisionId: newId('dec'), podcastId: podcast.id, episodeId: newId('ep'), surface: 'progressive' },
    ...{ country: 'DE', region: '', device: '', operatingSystem: '', app: '', language: 'en', explicit: false },
    ...{ contentCategories: [], publishedAtMs: 0, loudnessLufs: -16, adLoadLimitMs: undefined },
    ...{ streamFormat: media.stream_format, atMs: demand.management.clock().getTime() },
    breaks: [{ key: 'pre', position: 'pre', maxSlots: 1, maxDurationMs: 60_000, positionMs: 0, slotRules: [] }],
  });
  return { picks, verdicts: Object.fromEntries(candidates.map((one) => [one.lineItemId, one.verdict])) };
}

/** Calls trackers until it is disposed. The sink tells each page twice, as to a reader that crashed in between; `isTold` when both were read. */
function callTrackersOf(event: AdEvent) {
  const { pool, clock } = demand.management;
  const pages = [[event], [event]];
  let isTold = false;
  const listAdEvents = (async ({ fromMs }: { fromMs?: bigint }) => {
    isTold = pages.length === 0;
    const events = fromMs === undefined ? [] : (pages.shift() ?? []);
    return { events, untilMs: BigInt(clock().getTime()), isBehind: false };
  }) as unknown as ListAdEvents;
  const trackers = startTrackers({
    ...{ pool, clock, listAdEvents, fetch: demand.host.fetch, allowOrigins: [], random: () => 0.5 },
    ...{ pollMs: 20, collectEveryMs: 20, logger: createLogger('test', 'silent') },
  });
  return { isTold: () => isTold, [Symbol.asyncDispose]: () => trackers[Symbol.asyncDispose]() };
}

test('an ad of another ad server serves where its price wins, neither below a floor nor where its category is blocked, and its trackers hear of a serving once', async () => {
  const world = createWorld(demand.management);
  const { host } = demand;
  demand.answers(vast(inlineAd()));
  host.serve('ads.example/second', { body: host.here(vast(inlineAd())) });
  host.serve('ads.example/vast', { body: host.here(wrapper('https://ads.example/second', 'reseller')) });
  for (const place of ['impression', 'reseller/impression']) host.serve(`ads.example/${place}`, { status: 204 });
  const { lineItem, creative } = await demandLine(world, '1049');

  const [open, contested, dear, strict] = await Promise.all(Array.from({ length: 4 }, () => world.podcast()));
  const cheaper = await world.booked(byPrice(5));
  const dearer = await world.booked({ ...byPrice(12), targeting: { podcasts: { include: [contested!.id] } } });
  const unit = await world.send('inventory_unit.create', null, {
    ...{ kind: 'show', name: 'Dear', source_ref: { podcast_id: dear!.id }, min_cpm: price(10) },
  });
  await world.send('inventory_unit.activate', unit, {});
  await world.activePolicy({
    ...{ name: 'No tea', kind: 'brand_safety', scope: { kind: 'podcasts', podcast_ids: [strict!.id] } },
    rules: { blocked_ad_categories: ['1049'] },
  });
  const index = await planInForce(world);

  const won = decideIn(index, open!);
  expect(won.picks).toMatchObject([{ lineItemId: lineItem.id, creativeId: creative.id, billable: true }]);
  expect(won.verdicts).toMatchObject({ [lineItem.id]: 'won', [cheaper.lineItem.id]: 'outranked' });
  expect(decideIn(index, contested!).verdicts).toMatchObject({
    ...{ [dearer.lineItem.id]: 'won', [lineItem.id]: 'outranked' },
  });
  const floored = decideIn(index, dear!);
  expect([floored.picks, floored.verdicts[lineItem.id]]).toEqual([[], 'below_floor']);
  expect(decideIn(index, strict!).verdicts).toMatchObject({
    ...{ [lineItem.id]: 'policy_brand_safety', [cheaper.lineItem.id]: 'won' },
  });

  const [{ campaignId, lineItemId, creativeId }] = won.picks as [(typeof won.picks)[number]];
  const servingId = newId('srv');
  await using calls = callTrackersOf({
    ...{ event: 'impression', servingId, workspaceId: world.workspaceId, campaignId, lineItemId, creativeId },
    ...{ countedAtMs: BigInt(demand.management.clock().getTime()), breakPosition: 'pre' },
  });
  const queued = () =>
    demand.management.pool.query<{ state: string }>('select state from tracker_call where serving_id = $1', [
      servingId,
    ]);
  await until(async () => calls.isTold() && (await queued()).rows.every(({ state }) => state === 'delivered'), {
    timeoutMs: 15_000,
  });
  expect((await queued()).rowCount).toBe(2);
  const called = host.requests.filter((url) => /\/impression|\/error/.test(url)).sort();
  expect(called).toEqual([
    expect.stringMatching(/^ads\.example\/impression\?cb=\d{8}$/),
    'ads.example/reseller/impression',
  ]);
});
