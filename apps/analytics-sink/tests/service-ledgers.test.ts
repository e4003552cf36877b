import { expect, test } from '@jest/globals';
import { topics, type DecisionMade } from '@longwave/events';
import { AnomalyDecision, AnomalyKind, Granularity, Window } from '@longwave/rpc/audience';
import { until } from '@longwave/test-kit';
import { fact, seen } from '@longwave/test-kit/delivery-facts';
import { decisionOf } from './_cohorts.ts';
import { facts, november, useSinkWorld } from './_sink-world.ts';

const started = useSinkWorld();

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
  await started.world.publish(facts);
  await started.world.bus.publish([message, message]);
  const asked = { workspaceId: 'ws_1', range: november, scope: { $case: 'creativeId' as const, value: 'crv_1' } };
  await until(async () => {
    const { decided, delivered } = await started.world.gateway.countAds(asked, started.world.ownerOf('ws_1'));
    return decided === 2n && delivered === 2n;
  });
  const byHour = { workspaceId: 'ws_1', podcastId: 'pod_1', range: november, granularity: Granularity.HOUR };
  const { buckets } = await started.world.gateway.countAdSeries(byHour, started.world.ownerOf('ws_1'));
  expect(buckets.filter(({ decided, delivered }) => decided + delivered > 0n)).toEqual([
    { startMs: BigInt(Date.parse('2025-11-02T09:00Z')), decided: 2n, delivered: 0n, billable: 0n },
    { startMs: BigInt(Date.parse('2025-11-02T10:00Z')), decided: 0n, delivered: 1n, billable: 1n },
    { startMs: BigInt(Date.parse('2025-11-03T08:00Z')), decided: 0n, delivered: 1n, billable: 0n },
  ]);
  const byCampaign = { workspaceId: 'ws_1', range: november, campaignIds: ['cmp_1', 'cmp_2'] };
  const inPodcast = async (podcastId?: string) =>
    (await started.world.gateway.countCampaigns({ ...byCampaign, podcastId }, started.world.ownerOf('ws_1'))).campaigns;
  expect(await inPodcast()).toEqual([{ campaignId: 'cmp_1', decided: 2n, delivered: 2n }]);
  expect(await inPodcast('pod_1')).toEqual(await inPodcast());
  expect(await inPodcast('pod_2')).toEqual([]);
  await expect(started.world.gateway.countAds(asked, started.world.ownerOf('ws_2'))).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(started.world.gateway.countCampaigns(byCampaign, started.world.ownerOf('ws_2'))).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(started.world.gateway.countAdSeries(byHour, started.world.ownerOf('ws_2'))).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('the same downloads in a rolling window and as they were known, each answer naming its window', async () => {
  const began = BigInt(Date.now());
  await started.world.publish([
    ...facts,
    fact({ fact_id: 'fct_9', listener_key: 'anna', started_at: '2025-11-04T01:00:00.000Z' }),
  ]);
  await until(async () => (await started.world.stored()) === 7);
  const range = { podcastId: 'pod_1', episodeId: '', range: november, granularity: Granularity.DAY };
  const asked = { workspaceId: 'ws_1', ...range };
  const days = async (window: Window, knownAtMs?: bigint) => {
    const answer = await started.world.gateway.countDownloads(
      { ...asked, window, knownAtMs },
      started.world.ownerOf('ws_1'),
    );
    expect([answer.window, answer.knownAtMs]).toEqual([window, knownAtMs]);
    return answer.buckets.map((bucket) => Number(bucket.downloads));
  };
  await until(async () => (await days(Window.CALENDAR_UTC)).join() === '0,2,1,1');
  expect(await days(Window.FIRST_TOUCH_24H)).toEqual([0, 2, 0, 1]);
  expect(await days(Window.LAST_TOUCH_24H)).toEqual([0, 2, 0, 0]);
  expect(await days(Window.FIRST_TOUCH_24H, BigInt(Date.now()))).toEqual([0, 2, 0, 1]);
  expect(await days(Window.CALENDAR_UTC, began)).toEqual([0, 0, 0, 0]);
  const { episodes, window } = await started.world.gateway.countByEpisode(
    { workspaceId: 'ws_1', podcastId: 'pod_1', range: november, window: Window.LAST_TOUCH_24H },
    started.world.ownerOf('ws_1'),
  );
  expect([episodes.map((one) => one.downloads), window]).toEqual([[1n, 1n], Window.LAST_TOUCH_24H]);
});

test('the operator alone sees held days, and decides with name and reason', async () => {
  const spree = Array.from({ length: 51 }, (_, nth) =>
    fact({ fact_id: `fct ${nth}`, listener_key: 'glutton', episode_id: `ep_${nth}` }),
  );
  await started.world.publish([seen(), ...spree]);
  const operator = started.world.anomaliesAs('operator');
  const options = { deadlineMs: 5_000 };
  await until(async () => (await operator.listAnomalies({ undecided: true }, options)).anomalies.length === 1);
  const anomaly = { kind: AnomalyKind.LISTENER, key: 'glutton', day: '2025-11-02' };
  expect((await started.world.countDays()).buckets[1]!.downloads).toBe(0n);
  const decision = { ...anomaly, decision: AnomalyDecision.RELEASE, decidedBy: 'Ada', reason: 'A library.' };
  await expect(operator.decideAnomaly({ ...decision, reason: ' ' }, options)).rejects.toMatchObject({
    code: 'validation_failed',
  });
  const answer = await operator.decideAnomaly(decision, options);
  expect(answer.anomaly).toEqual({ ...anomaly, downloads: 51n, decision: AnomalyDecision.RELEASE });
  expect((await started.world.countDays()).buckets[1]!.downloads).toBe(51n);
  operator.close();
  const stranger = started.world.anomaliesAs('rest-gateway');
  await expect(stranger.decideAnomaly(decision, started.world.ownerOf('ws_1'))).rejects.toMatchObject({
    code: 'permission_denied',
  });
  await expect(stranger.listAnomalies({ undecided: false }, started.world.ownerOf('ws_1'))).rejects.toMatchObject({
    code: 'permission_denied',
  });
  stranger.close();
});

test('cohorts are for internal-serving and the operator, the ledger for management and the operator, adjustments from management alone', async () => {
  const recent = new Date(Math.floor(Date.now() / 900_000) * 900_000);
  const payload = decisionOf('srv_1', { decided_at: recent.toISOString(), surface_class: 'stream' });
  await started.world.bus.publish([{ topic: topics.decisions, key: 'dec_1', id: 'dec_1', type: 'decision', payload }]);
  await started.world.publish(facts);
  const [serving, management, operator] = [
    started.world.cohortsAs('internal-serving'),
    started.world.ledgerAs('management'),
    started.world.ledgerAs('operator'),
  ] as const;
  const options = { deadlineMs: 5_000 };
  const asked = { lineItemIds: ['li_1'], horizonDays: 7 };
  await until(async () => (await serving.readCohorts(asked, options)).cohorts[0]?.delivered === 1n);
  const { cohorts, untilMs, isBehind } = await serving.readCohorts(asked, options);
  expect(cohorts).toEqual([
    {
      ...{ lineItemId: 'li_1', surfaceClass: 'stream', quarterMs: BigInt(recent.getTime()) },
      ...{ decided: 1n, served: 1n, delivered: 1n, held: 0n, clientStarted: 0n, clientCompleted: 0n },
    },
  ]);
  expect([untilMs <= BigInt(Date.now()), isBehind]).toEqual([true, false]);

  await started.world.pool.query(`insert into producer_mark values ('one', 0, now() + interval '1 hour', false)`);
  const lineItem = { workspaceId: 'ws_1', countingBasis: 'ad_delivered' };
  const units = { ...lineItem, lineItemId: 'li_1', untilMs: BigInt(Date.now()), decidedBoundsMs: [] };
  const before = BigInt(Date.now() - 60_000);
  expect(await management.readUnits({ ...units, knownAtMs: before }, options)).toMatchObject({
    ...{ units: [0n], methodologyVersion: '', listsVersion: '' },
  });
  await expect(management.readUnits({ ...units, knownAtMs: BigInt(Date.now()) }, options)).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
  const hours = { ...lineItem, lineItemIds: ['li_1'], range: november, knownAtMs: before };
  for await (const answer of operator.readHours(hours, options)) expect(answer.hours).toEqual([]);
  const servings = { ...lineItem, servingIds: ['srv_1'], knownAtMs: before };
  expect(await operator.readServings(servings, options)).toEqual({ servings: [] });
  await expect(management.readServings({ ...servings, knownAtMs: BigInt(Date.now()) }, options)).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
  const adjustment = {
    ...{ itemId: 'rci_1', lineItemId: 'li_1', day: '2025-11-02', quantity: -3n, countingBasis: 'ad_delivered' },
    ...{ reason: 'Their count stands.', reconciliationId: '', recordedAtMs: 0n },
  };
  const posted = { workspaceId: 'ws_1', reconciliationId: 'rec_1', adjustments: [adjustment] };
  expect(await management.postAdjustments(posted, options)).toEqual({ posted: 1 });
  expect(await management.postAdjustments(posted, options)).toEqual({ posted: 0 });
  const changed = { ...posted, adjustments: [{ ...adjustment, quantity: 3n }] };
  await expect(management.postAdjustments(changed, options)).rejects.toMatchObject({ code: 'idempotency_conflict' });
  const listed = { workspaceId: 'ws_1', lineItemIds: ['li_1'], knownAtMs: before };
  expect(await operator.listAdjustments(listed, options)).toEqual({ adjustments: [] });

  const denied = { code: 'permission_denied' };
  await expect(operator.postAdjustments(posted, options)).rejects.toMatchObject(denied);
  await expect(started.world.cohortsAs('management').readCohorts(asked, options)).rejects.toMatchObject(denied);
  const stranger = started.world.ledgerAs('internal-serving');
  await expect(stranger.readUnits({ ...units, knownAtMs: before }, options)).rejects.toMatchObject(denied);
  await expect(stranger.listAdjustments(listed, options)).rejects.toMatchObject(denied);
  await expect(stranger.readServings(servings, options)).rejects.toMatchObject(denied);
  await expect(
    (async () => {
      for await (const _ of stranger.readHours(hours, options));
    })(),
  ).rejects.toMatchObject(denied);
});
