import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ReadReportRequest } from '@longwave/rpc/audience';
import { Window } from '@longwave/rpc/audience';
import { decodeJwt } from 'jose';
import { activeReport, dailyReport, november, queuedRun } from './_examples-reports.ts';
import { plan, refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { at, cpm, createBilling, dayFrom, passTo } from './_billing.ts';
import { createReporting, dayMs, rows, sinkOf, type Rows } from './_reports.ts';
import { service } from './_values.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
let reporting: ReturnType<typeof createReporting>;
beforeAll(async () => {
  management = await startTestManagement();
  reporting = createReporting(management);
});
afterAll(async () => management?.[Symbol.asyncDispose]());

describe('a run', () => {
  test('a retention policy shortens the days of results that are recorded while it is in force, and never prolongs them', async () => {
    const w = createWorld(management);
    const daysOfNew = async () => {
      const { id } = await queuedRun(w);
      await reporting.attempt(id, { readReport: sinkOf([rows]) });
      const run = await reporting.find(w, id);
      const days = (Date.parse(run.attributes.expires_at!) - management.clock().getTime()) / dayMs;
      const { rows: receipts } = await management.pool.query<{ jws: string }>(
        `select jws from receipt r join operation o on o.id = r.operation_id
         where o.subject_id = $1 and o.command_type = 'report_run.record'`,
        [id],
      );
      const policies = decodeJwt(receipts[0]!.jws)['policy_versions'] as readonly { id: string }[] | undefined;
      return [Math.round(days), (policies ?? []).map((policy) => policy.id)];
    };
    expect(await daysOfNew()).toEqual([30, []]);
    const week = await w.activePolicy({ kind: 'retention', rules: { report_days: 7 } });
    expect(await daysOfNew()).toEqual([7, [week.id]]);
    management.aheadMs += 1_000;
    const year = await w.activePolicy({ kind: 'retention', rules: { report_days: 365 } });
    expect(await daysOfNew()).toEqual([30, [year.id]]);
    await w.send('policy.retire', year, { replacement_id: 'none' }, service('operator'));
    await w.send('policy.supersede', week, {}, service('management'));
    expect(await daysOfNew()).toEqual([30, []]);
  });

  test('has its rows as CSV and as JSON lines behind signed addresses, with digests and how they were counted', async () => {
    const w = createWorld(management);
    const asked: ReadReportRequest[] = [];
    const { id } = await queuedRun(w, { filters: { country: ['DE'] }, time_zone: 'Europe/Paris' });
    await reporting.attempt(id, { readReport: sinkOf([rows.slice(0, 1), rows.slice(1)], asked) });
    expect(asked).toEqual([
      {
        workspaceId: w.workspaceId,
        range: { fromMs: BigInt(Date.parse(november.start)), toMs: BigInt(Date.parse(november.end)) },
        dimensions: dailyReport.dimensions,
        metrics: dailyReport.metrics,
        filters: [{ dimension: 'country', keys: ['DE'] }],
        window: Window.CALENDAR_UTC,
        timeZone: 'Europe/Paris',
        advertisers: [],
        lineItemTypes: [],
      },
    ]);
    const run = await reporting.find(w, id);
    expect(run.lifecycle_state).toBe('ready');
    expect(run.attributes).toMatchObject({
      row_count: 2,
      data_watermark: '2026-11-20T10:20:00.000Z',
      provisional_from: '2026-11-19T00:00:00.000Z',
      incomplete_from: '2026-11-20T10:00:00.000Z',
      methodology_version: 'm-1',
      restated: [
        {
          from: '2026-11-01T00:00:00.000Z',
          to: '2026-11-01T01:00:00.000Z',
          restated_at: '2026-11-20T10:20:00.000Z',
        },
      ],
    });
    expect(run.attributes).not.toHaveProperty('history_window');
    expect(await reporting.download(w, id, 'csv')).toEqual({
      rowCount: 2,
      text: [
        'day,podcast,downloads,ads_delivered',
        '2026-11-01,pod_1,12,3',
        `2026-11-01,"'=pod,""2""",0,9007199254740`,
        '',
      ].join('\r\n'),
    });
    expect((await reporting.download(w, id, 'jsonl')).text).toBe(
      '{"day":"2026-11-01","podcast":"pod_1","downloads":12,"ads_delivered":3}\n' +
        '{"day":"2026-11-01","podcast":"=pod,\\"2\\"","downloads":0,"ads_delivered":9007199254740}\n',
    );
  });

  test('without a row is a header and an empty file', async () => {
    const w = createWorld(management);
    const { id } = await queuedRun(w);
    await reporting.attempt(id, {});
    expect(await reporting.download(w, id, 'csv')).toEqual({
      rowCount: 0,
      text: 'day,podcast,downloads,ads_delivered\r\n',
    });
    expect(await reporting.download(w, id, 'jsonl')).toEqual({ rowCount: 0, text: '' });
  });

  test('of 100,000 rows is written batch by batch, while no more than one batch is read ahead', async () => {
    const w = createWorld(management);
    const { id } = await queuedRun(w);
    let open = 0;
    let most = 0;
    async function* batches(): AsyncGenerator<Rows> {
      for (let nth = 0; nth < 100; nth++) {
        open += 1;
        most = Math.max(most, open);
        yield Array.from(
          { length: 1000 },
          (_, row) =>
            [
              [`2026-11-${nth}`, `pod_${row}`],
              [nth, row],
            ] as const,
        );
        // The writer asks for the next batch only when this one is written.
        open -= 1;
      }
    }
    await reporting.attempt(id, { readReport: sinkOf(batches()) });
    expect(most).toBe(1);
    const { text, rowCount } = await reporting.download(w, id, 'jsonl');
    expect(rowCount).toBe(100_000);
    expect(text.split('\n')).toHaveLength(100_001);
    expect((await reporting.download(w, id, 'csv')).text.split('\r\n').at(-2)).toBe('2026-11-99,pod_999,99,999');
  });

  test('counts the version of the definition that it names, whatever was revised since', async () => {
    const w = createWorld(management);
    const definition = await activeReport(w);
    const revised = await w.send('report_definition.revise', definition, {
      dimensions: ['country'],
      metrics: ['listeners'],
    });
    const run = (version: number) =>
      w.send('report.run', null, { definition_id: definition.id, definition_version: version, window: november });
    const [before, after] = [await run(definition.version), await run(revised.version)];
    await w.send('report_definition.revise', revised, { dimensions: ['app'] });
    const asked: ReadReportRequest[] = [];
    for (const { id } of [before, after]) await reporting.attempt(id, { readReport: sinkOf([], asked) });
    expect(asked.map(({ dimensions, metrics }) => [dimensions, metrics])).toEqual([
      [dailyReport.dimensions, dailyReport.metrics],
      [['country'], ['listeners']],
    ]);
    expect((await refusalOf(run(99))).code).toBe('link_not_found');
  });

  test('knows the advertisers of the workspace, and no others', async () => {
    const [w, other] = [createWorld(management), createWorld(management)];
    const campaign = await w.campaign();
    await other.campaign();
    const { id } = await queuedRun(w, { dimensions: ['advertiser'], metrics: ['ads_delivered'] });
    const asked: ReadReportRequest[] = [];
    await reporting.attempt(id, { readReport: sinkOf([], asked) });
    expect(asked[0]?.advertisers).toEqual([
      { campaignId: campaign.id, advertiserId: campaign.attributes['advertiser_id'] },
    ]);
  });
});

test('a report by type knows the line items of the workspace, and no others', async () => {
  const [w, other] = [createWorld(management), createWorld(management)];
  const { lineItem } = await createBilling(management).flight(w, 60, cpm('12345678'));
  await createBilling(management).flight(other, 60, cpm('12345678'));
  const { id } = await queuedRun(w, { dimensions: ['type'], metrics: ['ads_delivered'], filters: {} });
  const asked: ReadReportRequest[] = [];
  await reporting.attempt(id, { readReport: sinkOf([], asked) });
  expect(asked[0]?.lineItemTypes).toEqual([{ lineItemId: lineItem.id, type: lineItem.attributes['type'] }]);
});

describe('the plan of the workspace', () => {
  const now = new Date('2026-11-20T12:00:00Z');
  const finds = (changes: object) => ({ clock: () => now, findPlan: async () => ({ plan: { ...plan, ...changes } }) });

  test('cuts a window to its history, and the run says so', async () => {
    const w = createWorld(management);
    const asked: ReadReportRequest[] = [];
    const { id } = await queuedRun(w, { time_zone: 'Europe/Paris' });
    await reporting.attempt(id, { ...finds({ historyDays: 5 }), readReport: sinkOf([rows], asked) });
    // Five days before the 20th of November in Paris.
    expect(asked[0]?.range?.fromMs).toBe(BigInt(Date.parse('2026-11-14T23:00:00Z')));
    expect((await reporting.find(w, id)).attributes).toMatchObject({
      row_count: 2,
      history_window: { from: '2026-11-14T23:00:00.000Z', requested_from: november.start, days: 5 },
    });
  });

  test('leaves nothing of a window before its history', async () => {
    const w = createWorld(management);
    const window = { start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' };
    const { id } = await queuedRun(w, {}, window);
    await reporting.attempt(id, { ...finds({ historyDays: 5 }), readReport: sinkOf([rows]) });
    const { attributes } = await reporting.find(w, id);
    expect(attributes).toMatchObject({ row_count: 0, history_window: { from: window.end, days: 5 } });
    expect((await reporting.download(w, id, 'csv')).text).toBe('day,podcast,downloads,ads_delivered\r\n');
  });

  test('without analytics refuses a run at once', async () => {
    management.plan = { ...plan, includesAnalytics: false };
    try {
      expect(await refusalOf(queuedRun(createWorld(management)))).toMatchObject({
        code: 'analytics_unavailable',
        status: 403,
      });
    } finally {
      management.plan = plan;
    }
  });

  test('that has lost its analytics fails the runs that wait, and the sink is not asked', async () => {
    for (const findPlan of [
      async () => ({ plan: { ...plan, includesAnalytics: false } }),
      async () => ({ plan: undefined }),
    ]) {
      const w = createWorld(management);
      const { id } = await queuedRun(w);
      const asked: ReadReportRequest[] = [];
      await reporting.attempt(id, { findPlan, readReport: sinkOf([rows], asked) });
      const run = await reporting.find(w, id);
      expect([run.lifecycle_state, run.attributes.problem?.code, asked]).toEqual([
        'failed',
        'analytics_unavailable',
        [],
      ]);
    }
  });
});

describe('money', () => {
  const money = {
    dimensions: ['line_item', 'currency', 'basis'],
    metrics: ['revenue_micros', 'charged_micros', 'charged_units'],
  };

  test('is what line items earned in the window by the terms of statements, beside what statements have charged, by currency and basis', async () => {
    const w = createWorld(management);
    const billing = createBilling(management);
    const from = w.now();
    const { campaign, lineItem } = await billing.flight(w, 60, cpm('12345678'));
    const { ledger } = management;
    for (const day of [1, 5, 35]) ledger.count(lineItem.id, 101, at(from, day));
    passTo(w, from, 30);
    await billing.issued(w, campaign, { start: dayFrom(from, 0), end: dayFrom(from, 30) });
    passTo(w, from, 61);
    const reportOf = async (first: number, last: number, changes: object = {}) => {
      const window = { start: dayFrom(from, first), end: dayFrom(from, last) };
      const { id } = await queuedRun(w, { ...money, ...changes }, window);
      await reporting.attempt(id, { readReport: sinkOf([rows], [], w.now().getTime()) });
      return (await reporting.download(w, id, 'csv')).text.split('\r\n').slice(1, -1);
    };
    // 202 units at 12.345678 a thousand are 2.493826956, of which the statement charges 2.49.
    const month = `${lineItem.id},EUR,ad_delivered,2493827,2490000,202`;
    expect(await reportOf(0, 30)).toEqual([month]);
    expect(await reportOf(30, 60)).toEqual([`${lineItem.id},EUR,ad_delivered,1246913,0,0`]);
    expect(await reportOf(0, 60)).toEqual([`${lineItem.id},EUR,ad_delivered,3740740,2490000,202`]);
    const elsewhere = { filters: { campaign: ['cmp_none'] } };
    expect(await reportOf(0, 60, elsewhere)).toEqual([]);
    expect(await reportOf(0, 30, { dimensions: ['currency', 'basis'] })).toEqual([month.slice(lineItem.id.length + 1)]);
    const byType = { dimensions: ['type', 'currency', 'basis'] };
    const type = String(lineItem.attributes['type']);
    expect(await reportOf(0, 30, byType)).toEqual([month.replace(lineItem.id, type)]);
    expect(await reportOf(0, 30, { ...byType, filters: { type: ['house'] } })).toEqual([]);
  });

  test('of several currencies or bases is never added, knows no hours, and stands in no report of other numbers', async () => {
    const w = createWorld(management);
    const refused = async (changes: object) =>
      (await refusalOf(activeReport(w, { ...money, ...changes }))).context.errors?.map(({ detail }) => detail);
    expect(await refused({ dimensions: ['line_item', 'basis'], metrics: ['revenue_micros'] })).toEqual([
      'revenue_micros needs the dimension currency.',
    ]);
    expect(await refused({ dimensions: ['day', 'currency', 'basis'], metrics: ['charged_micros'] })).toEqual([
      'charged_micros is not counted by day.',
    ]);
    expect(await refused({ dimensions: ['currency', 'basis'], metrics: ['revenue_micros', 'downloads'] })).toEqual([
      'downloads is not counted by currency.',
      'downloads is not counted by basis.',
    ]);
  });
});
