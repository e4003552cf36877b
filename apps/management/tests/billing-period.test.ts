import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DecisionMade, DeliveryFact } from '@longwave/events';
import { computeStatement } from '@longwave/money';
import { daysOf } from '@longwave/podcast-analytics/zoned-days';
import { AnomalyDecision, AnomalyKind } from '@longwave/rpc/audience';
import { until } from '@longwave/test-kit';
import { seen, withServing } from '@longwave/test-kit/delivery-facts';
import { savePlanContent } from '../src/advertising/serving-plans/plan-content-table.ts';
import { createReadStatementLedger } from '../src/commerce/billing/read-statement-ledger.ts';
import { createCloseHandler } from '../src/commerce/reconciliations/close-reconciliation.ts';
import { createMatchHandler } from '../src/commerce/reconciliations/match-reconciliation.ts';
import { cpm, createBilling, dayFrom } from './_billing.ts';
import { fileSource, openReconciliation, settledMonth } from './_examples-reconciliations.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { createReconciling } from './_reconciling.ts';
import { startTestSink, type TestSink } from './_sink.ts';
import { service } from './_values.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
let sink: TestSink;
beforeAll(async () => {
  [management, sink] = await Promise.all([startTestManagement(), startTestSink()]);
});
afterAll(async () => {
  await sink?.[Symbol.asyncDispose]();
  await management?.[Symbol.asyncDispose]();
});

const operator = service('operator');
const running = new AbortController().signal;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

test('a period from deliveries to a correction: a held day is released, the buyer counts 12 % more, facts come late, and every statement recomputes', async () => {
  const now = Date.now();
  const month = settledMonth(new Date(now));
  const dateOf = (nth: number) => new Date(Date.parse(month.start) + nth * dayMs).toISOString().slice(0, 10);
  const days = (Date.parse(month.end) - Date.parse(month.start)) / dayMs;
  const w = createWorld(management);
  const billing = createBilling(management);
  const reconciling = createReconciling(management);
  management.ledger.readUnits = sink.ledger.readUnits;
  management.ledger.listAdjustments = sink.ledger.listAdjustments;

  management.aheadMs = Date.parse(month.start) + 60_000 - now;
  const campaign = await billing.campaign(w, 75);
  const window = { start: month.start, end: dayFrom(w.now(), 75) };
  const booked = await w.booked({ window, ...cpm('10000000000') }, campaign);
  const plan = await w.send('serving_plan.publish', await w.readyPlan(month.start), {});
  await savePlanContent(management.pool, plan.id, [booked.lineItem.id]);
  const lineItem = await w.send('line_item.start_flight', booked.lineItem, {}, service('management'));
  management.aheadMs = 0;

  const place = { workspace_id: w.workspaceId, podcast_id: 'pod_1' };
  const sold = { campaign_id: campaign.id, line_item_id: lineItem.id };
  /** A serving that a listener hears at noon of a day. */
  const heard = (servingId: string, nth: number, listener: string): [DecisionMade, DeliveryFact] => {
    const at = `${dateOf(nth)}T12:00:00.000Z`;
    const one = withServing(servingId, {
      ...{ fact_id: `fct ${servingId}`, started_at: at, listener_key: listener, address_key: listener, ...place },
      ...{ episode_id: `ep_${servingId}`, published_at: month.start },
    });
    const parts = one.parts.map((part) => (part.ad ? { ...part, ad: { ...part.ad, ...sold } } : part));
    const { ad } = parts.find((part) => part.ad)!;
    const decision: DecisionMade = {
      ...{ decision_id: `dec ${servingId}`, ...place, episode_id: one.episode_id, decided_at: at, country: 'DE' },
      slots: [ad!],
    };
    return [decision, { ...one, parts }];
  };
  const many = (count: number, name: string, nth: number, listenerOf: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => heard(`${name}_${n}`, nth, listenerOf(n))).flat();
  const confirmed = (units: number) => until(async () => (await sink.confirmed()) === units);
  const judgeSpree = (decision: AnomalyDecision) =>
    sink.anomalies.decideAnomaly(
      { kind: AnomalyKind.LISTENER, key: 'glutton', day: dateOf(2), decision, decidedBy: 'Ada', reason: 'Looked at.' },
      { deadlineMs: 5_000 },
    );

  await sink.publish(seen(), ...many(40, 'day', 1, (n) => `listener ${n}`), ...many(51, 'spree', 2, () => 'glutton'));
  await confirmed(40);
  await until(async () => (await judgeSpree(AnomalyDecision.RELEASE)).anomaly !== undefined, { despiteErrors: true });
  await confirmed(91);
  await sink.moveBack(180);
  await sink.mark(new Date(now - 2.5 * hourMs));

  const file = `Line,Date,Impressions\n${lineItem.id},${dateOf(1)},45\n${lineItem.id},${dateOf(2)},51\n`;
  const opened = await openReconciliation(w, lineItem.id, {
    ...{ sources: [await fileSource(w, file)], smallest_difference: 0 },
  });
  management.aheadMs = -2 * hourMs;
  const options = reconciling.optionsOf(sink);
  await createMatchHandler(options).run(await reconciling.claim('match_reconciliation', opened.id), running);
  const items = await reconciling.items(opened.id);
  expect(items.map(({ day, ours, theirs, verdict }) => [day, ours, theirs, verdict])).toEqual([
    [dateOf(1), 40, 45, null],
    [dateOf(2), 51, 51, 'ours'],
  ]);
  const read = async () => ({ ...opened, version: (await reconciling.find(w, opened.id)).version });
  const verdict = { item_id: items[0]!.item_id, verdict: 'theirs', note: 'Known.' };
  await w.send('reconciliation.decide_item', await read(), verdict, operator);
  await w.send('reconciliation.close', await read(), {}, operator);
  await createCloseHandler(options).run(await reconciling.claim('close_reconciliation', opened.id), running);
  await sink.moveBack(120, new Date(now));
  await sink.mark(new Date(now - hourMs));
  management.aheadMs = 0;

  const linesOf = ({ attributes }: Awaited<ReturnType<typeof billing.find>>) =>
    attributes.lines!.map(({ kind, units, amount_micros }) => [kind, units, amount_micros]);
  const first = await billing.issued(w, campaign, month, { waive_reconciliation: undefined });
  expect(linesOf(first)).toEqual([['charge', 96, '960000000']]);
  expect(first.attributes.inputs.reconciliation_ids).toEqual([opened.id]);

  await judgeSpree(AnomalyDecision.REJECT);
  await sink.publish(...many(2, 'late', 3, (n) => `late ${n}`), ...many(1, 'next', days + 1, () => 'next'));
  await confirmed(43);
  await sink.moveBack(30, new Date(now));
  await sink.mark(new Date(Date.now() - 60_000));
  const next = { start: month.end, end: new Date(Date.parse(month.end) + 3 * dayMs).toISOString() };
  const second = await billing.issued(w, campaign, next);
  expect(linesOf(second)).toEqual([
    ['charge', 1, '10000000'],
    ['correction', -49, '-490000000'],
  ]);

  const readAgain = createReadStatementLedger(management.pool, sink.ledger);
  for (const { id, attributes } of [first, second]) {
    const { readings } = await readAgain(w.workspaceId, id, running);
    const again = computeStatement(attributes.inputs, readings, daysOf(attributes.inputs.time_zone));
    expect(again).toEqual({ lines: attributes.lines, total_micros: attributes.total_micros });
  }
});
