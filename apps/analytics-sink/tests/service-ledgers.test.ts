import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { topics, type DecisionMade } from '@longwave/events';
import type { Child } from '@longwave/fleet';
import { AnomalyDecision, AnomalyKind, Granularity, Window } from '@longwave/rpc/audience';
import { until } from '@longwave/test-kit';
import { fact, seen } from '@longwave/test-kit/delivery-facts';
import { facts, november, startSinkWorld, type SinkWorld } from './_sink-world.ts';

let world: SinkWorld;
let sink: Child;

beforeAll(async () => {
  world = await startSinkWorld();
});
afterAll(async () => world?.[Symbol.asyncDispose]());
beforeEach(async () => {
  sink = await world.start();
});
afterEach(async () => void (await sink.stop()), 30_000);

test('decisions on the bus are the first stage of the ledger, and ads are counted by every stage and hour', async () => {
  const decision: DecisionMade = {
    decision_id: 'dec_1',
    workspace_id: 'ws_1',
    podcast_id: 'pod_1',
    episode_id: 'ep_1',
    decided_at: '2025-11-02T09:59:59.000Z',
    country: 'DE',
    slots: ['srv_1', 'srv_2'].map((serving_id, slot) => ({
      serving_id,
      campaign_id: 'cmp_1',
      line_item_id: 'li_1',
      creative_id: 'crv_1',
      break_key: 'pre',
      slot,
      billable: true,
    })),
  };
  const message = { topic: topics.decisions, key: 'dec_1', id: 'dec_1', type: 'decision', payload: decision };
  await world.publish(facts);
  await world.bus.publish([message, message]);
  const asked = { workspaceId: 'ws_1', range: november, scope: { $case: 'creativeId' as const, value: 'crv_1' } };
  await until(async () => {
    const { decided, delivered } = await world.gateway.countAds(asked, world.ownerOf('ws_1'));
    return decided === 2n && delivered === 2n;
  });
  const byHour = { workspaceId: 'ws_1', podcastId: 'pod_1', range: november, granularity: Granularity.HOUR };
  const { buckets } = await world.gateway.countAdSeries(byHour, world.ownerOf('ws_1'));
  expect(buckets.filter(({ decided, delivered }) => decided + delivered > 0n)).toEqual([
    { startMs: BigInt(Date.parse('2025-11-02T09:00Z')), decided: 2n, delivered: 0n, billable: 0n },
    { startMs: BigInt(Date.parse('2025-11-02T10:00Z')), decided: 0n, delivered: 1n, billable: 1n },
    { startMs: BigInt(Date.parse('2025-11-03T08:00Z')), decided: 0n, delivered: 1n, billable: 0n },
  ]);
  const byCampaign = { workspaceId: 'ws_1', range: november, campaignIds: ['cmp_1', 'cmp_2'] };
  const inPodcast = async (podcastId?: string) =>
    (await world.gateway.countCampaigns({ ...byCampaign, podcastId }, world.ownerOf('ws_1'))).campaigns;
  expect(await inPodcast()).toEqual([{ campaignId: 'cmp_1', decided: 2n, delivered: 2n }]);
  expect(await inPodcast('pod_1')).toEqual(await inPodcast());
  expect(await inPodcast('pod_2')).toEqual([]);
  await expect(world.gateway.countAds(asked, world.ownerOf('ws_2'))).rejects.toMatchObject({ code: 'not_found' });
  await expect(world.gateway.countCampaigns(byCampaign, world.ownerOf('ws_2'))).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(world.gateway.countAdSeries(byHour, world.ownerOf('ws_2'))).rejects.toMatchObject({ code: 'not_found' });
});

test('the same downloads in a rolling window and as they were known, each answer naming its window', async () => {
  const began = BigInt(Date.now());
  await world.publish([
    ...facts,
    fact({ fact_id: 'fct_9', listener_key: 'anna', started_at: '2025-11-04T01:00:00.000Z' }),
  ]);
  await until(async () => (await world.stored()) === 7);
  const range = { podcastId: 'pod_1', episodeId: '', range: november, granularity: Granularity.DAY };
  const asked = { workspaceId: 'ws_1', ...range };
  const days = async (window: Window, knownAtMs?: bigint) => {
    const answer = await world.gateway.countDownloads({ ...asked, window, knownAtMs }, world.ownerOf('ws_1'));
    expect([answer.window, answer.knownAtMs]).toEqual([window, knownAtMs]);
    return answer.buckets.map((bucket) => Number(bucket.downloads));
  };
  await until(async () => (await days(Window.CALENDAR_UTC)).join() === '0,2,1,1');
  expect(await days(Window.FIRST_TOUCH_24H)).toEqual([0, 2, 0, 1]);
  expect(await days(Window.LAST_TOUCH_24H)).toEqual([0, 2, 0, 0]);
  expect(await days(Window.FIRST_TOUCH_24H, BigInt(Date.now()))).toEqual([0, 2, 0, 1]);
  expect(await days(Window.CALENDAR_UTC, began)).toEqual([0, 0, 0, 0]);
  const { episodes, window } = await world.gateway.countByEpisode(
    { workspaceId: 'ws_1', podcastId: 'pod_1', range: november, window: Window.LAST_TOUCH_24H },
    world.ownerOf('ws_1'),
  );
  expect([episodes.map((one) => one.downloads), window]).toEqual([[1n, 1n], Window.LAST_TOUCH_24H]);
});

test('the operator alone sees held days, and decides with name and reason', async () => {
  const spree = Array.from({ length: 51 }, (_, nth) =>
    fact({ fact_id: `fct ${nth}`, listener_key: 'glutton', episode_id: `ep_${nth}` }),
  );
  await world.publish([seen(), ...spree]);
  const operator = world.anomaliesAs('operator');
  const options = { deadlineMs: 5_000 };
  await until(async () => (await operator.listAnomalies({ undecided: true }, options)).anomalies.length === 1);
  const anomaly = { kind: AnomalyKind.LISTENER, key: 'glutton', day: '2025-11-02' };
  expect((await world.countDays()).buckets[1]!.downloads).toBe(0n);
  const decision = { ...anomaly, decision: AnomalyDecision.RELEASE, decidedBy: 'Ada', reason: 'A library.' };
  await expect(operator.decideAnomaly({ ...decision, reason: ' ' }, options)).rejects.toMatchObject({
    code: 'validation_failed',
  });
  const answer = await operator.decideAnomaly(decision, options);
  expect(answer.anomaly).toEqual({ ...anomaly, downloads: 51n, decision: AnomalyDecision.RELEASE });
  expect((await world.countDays()).buckets[1]!.downloads).toBe(51n);
  operator.close();
  const stranger = world.anomaliesAs('rest-gateway');
  await expect(stranger.decideAnomaly(decision, world.ownerOf('ws_1'))).rejects.toMatchObject({
    code: 'permission_denied',
  });
  await expect(stranger.listAnomalies({ undecided: false }, world.ownerOf('ws_1'))).rejects.toMatchObject({
    code: 'permission_denied',
  });
  stranger.close();
});
