import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { lineItemAlertSchema, webhookMessageSchema } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import type { Alert, AlertEvent, AlertFigures, ListAlertsRequest, PutFindingsRequest } from '@longwave/rpc/serving';
import { createListAlerts } from '../src/commerce/alerts/list-alerts.ts';
import { tellAlerts } from '../src/commerce/alerts/tell-alerts.ts';
import { createTellReservations } from '../src/commerce/alerts/tell-reservations.ts';
import { serveHttp, withoutTrace, type HttpWorld } from './_http.ts';
import { person } from './_values.ts';
import { startWebhookWorld, type WebhookWorld } from './_webhooks.ts';
import { createWorld } from './_world.ts';

const figures: AlertFigures = {
  ...{ goal: 10_000n, target: 3_000, committed: 2_000, confirmed: 1_900, units: 1_000, shortBy: 'plan' },
  budgetPercent: undefined,
  detailJson: '',
};

/** An internal-serving with the alerts that the test gives it, the oldest first. */
function servingWith(alerts: Alert[], events: AlertEvent[]) {
  const asked: ListAlertsRequest[] = [];
  return {
    asked,
    listAlerts: async (request: ListAlertsRequest) => {
      asked.push(request);
      const { workspaceId, lineItemId, podcastId, state, kind, limit, before } = request;
      const listed = alerts.map((alert, at) => ({ alert, position: BigInt(at + 1) })).reverse();
      return {
        alerts: listed
          .filter(({ alert, position }) => alert.workspaceId === workspaceId && (before === 0n || position < before))
          .filter(({ alert }) => lineItemId === '' || alert.lineItemId === lineItemId)
          .filter(({ alert }) => podcastId === '' || alert.podcastId === podcastId)
          .filter(({ alert }) => kind === '' || alert.kind === kind)
          .filter(({ alert }) => state === '' || (state === 'open') === (alert.cleared === undefined))
          .slice(0, limit),
      };
    },
    readAlertEvents: async ({ after }: { readonly after: bigint }) => ({
      events: events.filter(({ position }) => position > after),
    }),
  };
}

const raisedAtMs = () => BigInt(Date.now() + 1_000);
const openAlert = (workspaceId: string, lineItemId: string, given: Partial<Alert> = {}): Alert => ({
  ...{ alertId: newId('alr'), workspaceId, lineItemId, podcastId: '', kind: 'behind_plan', raisedAtMs: raisedAtMs() },
  ...{ raised: figures, clearedAtMs: undefined, cleared: undefined, clearedBy: '' },
  ...given,
});
const closed = () => ({ clearedAtMs: raisedAtMs(), cleared: { ...figures, units: 0 }, clearedBy: 'recovered' });

const alerts: Alert[] = [];
const events: AlertEvent[] = [];
const serving = servingWith(alerts, events);
let webhooks: WebhookWorld;
let api: HttpWorld;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  webhooks = stack.use(await startWebhookWorld());
  api = stack.use(await serveHttp(webhooks.management, { listAlerts: createListAlerts(serving) }));
});
afterAll(() => stack.disposeAsync());

const roots = { baseUrl: 'https://longwave.example', apiUrl: 'https://api.longwave.example' };
const tellAll = () => {
  const { pool, clock } = webhooks.management;
  return tellAlerts({ pool, clock, roots, serving });
};
/** Notices among the changes of a workspace. */
async function noticesOf(workspaceId: string, token: string) {
  const { json } = await api.call(`/workspaces/${workspaceId}/changes?limit=200`, { token });
  return (json.rows as { kind: string; type: string; subject: { id: string }; detail: unknown }[]).filter(
    ({ kind }) => kind === 'notice',
  );
}

test('an alert that is raised and cleared is told once each, as a notice and by webhook, by whichever process; the line item stays as it is', async () => {
  const world = createWorld(webhooks.management);
  const { lineItem } = await world.booked();
  const subscription = await webhooks.subscribe(['line_item.alert_raised', 'line_item.alert_cleared'], world);
  const other = await webhooks.subscribe(['line_item.alert_raised']);
  const alert = openAlert(world.workspaceId, lineItem.id);
  events.push({ position: 3n, eventId: newId('evt'), alert });
  expect(await Promise.all([tellAll(), tellAll(), tellAll()])).toContain(true);
  events.push({ position: 4n, eventId: newId('evt'), alert: { ...alert, ...closed() } });
  await Promise.all([tellAll(), tellAll()]);
  expect(await tellAll()).toBe(false);

  const deliveries = await subscription.deliveries();
  expect(deliveries.map((row) => [row.message_id, row.message_type])).toEqual([
    [events[0]!.eventId, 'line_item.alert_raised'],
    [events[1]!.eventId, 'line_item.alert_cleared'],
  ]);
  for (const row of deliveries) {
    const message = webhookMessageSchema(row.message_type).parse(JSON.parse(row.body));
    expect(message.data).toMatchObject({
      ...{ resource_type: 'line_items', resource_id: lineItem.id },
      url: `${roots.apiUrl}/management/v1/workspaces/${world.workspaceId}/resources/line_items/${lineItem.id}`,
      alert: { alert_id: alert.alertId, kind: 'behind_plan', raised: { goal: 10_000, units: 1_000, short_by: 'plan' } },
    });
  }
  expect(await other.deliveries()).toEqual([]);

  const notices = await noticesOf(world.workspaceId, api.tokenFor(world.actor));
  expect(notices.map(({ type, subject }) => [type, subject.id])).toEqual([
    ['line_item.alert_raised', lineItem.id],
    ['line_item.alert_cleared', lineItem.id],
  ]);
  expect(notices.map(({ detail }) => lineItemAlertSchema.parse(detail).state)).toEqual(['open', 'closed']);
  const { pool } = webhooks.management;
  const { rows } = await pool.query('select version, lifecycle_state from resource where id = $1', [lineItem.id]);
  expect(rows).toEqual([{ version: lineItem.version, lifecycle_state: lineItem.lifecycle_state }]);
});

test('alerts are read page by page, by line item, state and kind, by whoever sees line items; a stranger finds no line item', async () => {
  const world = createWorld(webhooks.management);
  const { lineItem } = await world.booked();
  const { workspaceId } = world;
  const own = [
    openAlert(workspaceId, lineItem.id),
    openAlert(workspaceId, newId('li'), {
      kind: 'ending',
      raised: { ...figures, detailJson: JSON.stringify({ reservation: { expires_at: new Date().toISOString() } }) },
    }),
    openAlert(workspaceId, lineItem.id, { kind: 'over', ...closed() }),
  ];
  alerts.push(...own, openAlert(newId('ws'), newId('li')));
  const [first, second, third] = own.map(({ alertId }) => alertId);
  const token = api.tokenFor(person(workspaceId, ['viewer']));
  const at = `/workspaces/${workspaceId}/alerts`;
  const idsOf = async (query: string) => {
    const { status, json } = await api.call(`${at}?${query}`, { token });
    expect(status).toBe(200);
    return [(json.rows as { alert_id: string }[]).map(({ alert_id: id }) => id), json.next_cursor] as const;
  };
  const [page, cursor] = await idsOf('limit=2');
  expect(page).toEqual([third, second]);
  expect(await idsOf(`limit=2&cursor=${encodeURIComponent(cursor)}`)).toEqual([[first], undefined]);
  expect(await idsOf(`line_item_id=${lineItem.id}`)).toEqual([[third, first], undefined]);
  expect(await idsOf('state=open')).toEqual([[second, first], undefined]);
  expect(await idsOf('state=closed&kind=over')).toEqual([[third], undefined]);
  const refused = [`kind=late`, 'line_item_id=li_1', 'state=raised', `state=open&cursor=${encodeURIComponent(cursor)}`];
  const codes = await Promise.all(
    refused.map(async (query) => (await api.call(`${at}?${query}`, { token })).json.code),
  );
  expect(codes).toEqual(['validation_failed', 'validation_failed', 'validation_failed', 'invalid_cursor']);

  const stranger = createWorld(webhooks.management);
  const foreign = api.tokenFor(stranger.actor);
  expect((await api.call(at, { token: foreign })).status).toBe(404);
  const missing = newId('li');
  const [theirs, none] = await Promise.all(
    [lineItem.id, missing].map((id) =>
      api.call(`/workspaces/${stranger.workspaceId}/alerts?line_item_id=${id}`, { token: foreign }),
    ),
  );
  expect(theirs!.status).toBe(404);
  expect(withoutTrace(theirs!).replaceAll(lineItem.id, 'ID')).toBe(withoutTrace(none!).replaceAll(missing, 'ID'));
  expect(serving.asked.map((request) => request.workspaceId)).not.toContain(stranger.workspaceId);
});

test('internal-serving is told which reservations end within 48 hours, and that there is none any more, each hour whatever another process told and whatever fails of other workspaces', async () => {
  const { pool, clock } = webhooks.management;
  const [refused, world] = [createWorld(webhooks.management), createWorld(webhooks.management)];
  await refused.reservedLineItem();
  const held = await world.reservedLineItem();
  const later = await world.approvedLineItem();
  const inThreeDays = new Date(clock().getTime() + 72 * 3_600_000).toISOString();
  await world.send('line_item.reserve', later, { expires_at: inThreeDays });
  const put: PutFindingsRequest[] = [];
  const putFindings = async (request: PutFindingsRequest) => {
    if (request.workspaceId === refused.workspaceId) throw new Problem('validation_failed');
    if (request.workspaceId === world.workspaceId) put.push(request);
    return {};
  };
  const failed: unknown[] = [];
  const logger = { warn: (what: object) => void failed.push((what as { workspace_id: unknown }).workspace_id) };
  let aheadMs = 0;
  const ahead = () => new Date(clock().getTime() + aheadMs);
  const tell = createTellReservations({ pool, logger, clock: ahead, serving: { putFindings } });
  await tell();
  await tell();
  expect(failed).toEqual([refused.workspaceId, refused.workspaceId]);
  expect(put.map(({ kind, findings }) => [kind, findings])).toEqual([
    [
      'ending',
      [
        {
          lineItemId: held.id,
          units: (held.attributes['goal'] as { quantity: number }).quantity,
          detailJson: JSON.stringify({
            reservation: { expires_at: new Date(String(held.attributes['reserved_until'])).toISOString() },
          }),
        },
      ],
    ],
  ]);
  await world.send('line_item.release_reservation', held, {});
  await tell();
  expect(put.slice(1).map(({ findings }) => findings)).toEqual([[]]);

  // What another process told between two looks, and nobody would take back since it has ended.
  put.length = 0;
  await tell();
  expect(put).toEqual([]);
  aheadMs = 3_600_000;
  await tell();
  expect(put.map(({ findings }) => findings)).toEqual([[]]);
});

test('an alert of a podcast says what stays empty, and is told and listed as one of the podcast', async () => {
  const world = createWorld(webhooks.management);
  const { id: podcastId } = await world.podcast();
  const subscription = await webhooks.subscribe(['podcast.alert_raised'], world);
  const unfilled = { opportunities: 900, percent: 44.4, usual_percent: 20, no_ad_reason: 'all_capped' };
  const none = { goal: 0n, target: 0, committed: 0, confirmed: 0, shortBy: '', budgetPercent: undefined };
  const alert = openAlert(world.workspaceId, '', {
    ...{ podcastId, kind: 'unfilled', raised: { ...none, units: 400, detailJson: JSON.stringify({ unfilled }) } },
  });
  const position = (events.at(-1)?.position ?? 10n) + 1n;
  events.push({ position, eventId: newId('evt'), alert });
  await tellAll();
  const token = api.tokenFor(world.actor);
  const [notice] = await noticesOf(world.workspaceId, token);
  expect(notice).toMatchObject({ type: 'podcast.alert_raised', subject: { id: podcastId } });
  const [delivery] = await subscription.deliveries();
  const { data } = webhookMessageSchema('podcast.alert_raised').parse(JSON.parse(delivery!.body));
  expect(data).toMatchObject({
    resource_type: 'podcasts',
    alert: { podcast_id: podcastId, raised: { units: 400, unfilled } },
  });
  expect(data['alert']).not.toHaveProperty('line_item_id');
  alerts.push(alert, openAlert(world.workspaceId, newId('li')));
  const { json } = await api.call(`/workspaces/${world.workspaceId}/alerts?podcast_id=${podcastId}`, { token });
  expect((json.rows as { alert_id: string }[]).map(({ alert_id: id }) => id)).toEqual([alert.alertId]);
});

test('what an alert has from forecasts and reconciliations, and what slots are worth, is for their readers, in the list and among the changes', async () => {
  const world = createWorld(webhooks.management);
  const { lineItem } = await world.booked();
  const { id: podcastId } = await world.podcast();
  const { workspaceId } = world;
  const forecast = { p10: 7_001, p50: 8_001, as_of: new Date().toISOString() };
  const day = { day: '2027-03-01', daily_min: 500, days: 2, p50: 301, p90: 401, as_of: forecast.as_of };
  const discrepancy = { reconciliation_id: newId('rec'), source: 'gam', days: 3 };
  const slots = { opportunities: 900, percent: 44.4, usual_percent: 20, no_ad_reason: 'all_capped' };
  const unfilled = { ...slots, value_at_floor_micros: 5_000_000 };
  const of = (detail: object) => ({ ...figures, detailJson: JSON.stringify(detail) });
  const none = { goal: 0n, target: 0, committed: 0, confirmed: 0, shortBy: '', budgetPercent: undefined };
  const own = [
    openAlert(workspaceId, lineItem.id, { kind: 'at_risk', raised: of({ forecast }), ...closed() }),
    openAlert(workspaceId, lineItem.id, { kind: 'daily_min_unreachable', raised: of({ day }) }),
    openAlert(workspaceId, lineItem.id, { kind: 'discrepancy', raised: of({ discrepancy }) }),
    openAlert(workspaceId, '', { podcastId, kind: 'unfilled', raised: { ...of({ unfilled }), ...none } }),
  ];
  alerts.push(...own);
  for (const alert of own)
    events.push({ position: (events.at(-1)?.position ?? 20n) + 1n, eventId: newId('evt'), alert });
  await tellAll();
  const found = (alert: { raised: Record<string, unknown> }) =>
    ['forecast', 'day', 'discrepancy', 'unfilled'].flatMap((name) => (alert.raised[name] ? [alert.raised[name]] : []));
  for (const [role, said] of [
    ['viewer', [slots]],
    ['sales', [forecast, day, discrepancy, unfilled]],
  ] as const) {
    const token = api.tokenFor(person(workspaceId, [role]));
    const { json } = await api.call(`/workspaces/${workspaceId}/alerts`, { token });
    expect([role, json.rows.reverse().flatMap(found)]).toEqual([role, said]);
    const told = (await noticesOf(workspaceId, token)).flatMap(({ detail }) => found(detail as never));
    expect([role, told]).toEqual([role, said]);
  }
});
