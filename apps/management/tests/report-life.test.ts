import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DomainEvent } from '@longwave/events';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { until } from '@longwave/test-kit';
import { startClock } from '../src/background/clock.ts';
import { startJobRunner } from '../src/background/job-runner.ts';
import { removeReportFiles } from '../src/workspace/reports/report-files.ts';
import { reportTasks } from '../src/workspace/reports/report-tasks.ts';
import { createReportHandler, type ReportOptions } from '../src/workspace/reports/run-report.ts';
import { createSignReport } from '../src/workspace/reports/sign-report.ts';
import { activeReport, dailyReport, november, queuedRun } from './_examples-reports.ts';
import { refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { createReporting, dayMs, rows, sinkOf, type Rows } from './_reports.ts';
import { person } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
let reporting: ReturnType<typeof createReporting>;
beforeAll(async () => {
  management = await startTestManagement();
  reporting = createReporting(management);
});
afterAll(async () => management?.[Symbol.asyncDispose]());

describe('the cost of a run', () => {
  test('runs wait behind the work of people, and a workspace has few that have not ended', async () => {
    const w = createWorld(management);
    const runs = [];
    for (let n = 0; n < 20; n++) runs.push(await queuedRun(w));
    const { rows: classes } = await management.pool.query(
      `select distinct work_class from job where kind = 'run_report' and workspace_id = $1`,
      [w.workspaceId],
    );
    expect(classes).toEqual([{ work_class: 'bulk' }]);
    expect(await refusalOf(queuedRun(w))).toMatchObject({
      code: 'rate_limited',
      context: { retryAfterSeconds: expect.any(Number) },
    });
    const other = createWorld(management);
    await other.send('report_run.cancel', await queuedRun(other), {});
    await w.send('report_run.cancel', runs.pop()!, {});
    runs.push(await queuedRun(w));
    for (const run of runs) await w.send('report_run.cancel', run, {});
  });

  test.each([
    ['rows', { maxRows: 2, maxBytes: 1_000_000 }],
    ['bytes', { maxRows: 100, maxBytes: 150 }],
  ])('a result of more %s than it may have fails at once, says what to do, and leaves nothing', async (_of, limits) => {
    const w = createWorld(management);
    const { id } = await queuedRun(w);
    let read = 0;
    async function* batches(): AsyncGenerator<Rows> {
      for (; read < 10; read++) yield rows;
    }
    await reporting.attempt(id, { limits, readReport: sinkOf(batches()) });
    const run = await reporting.find(w, id);
    expect(run).toMatchObject({
      lifecycle_state: 'failed',
      attributes: { problem: { code: 'report_too_large', detail: expect.stringContaining('shorter window') } },
    });
    expect(read).toBeLessThan(3);
    expect(await reporting.keysOf(id)).toEqual([]);
  });
});

describe('the end of a run', () => {
  test('a run that is cancelled while it is counted leaves nothing in the store', async () => {
    const w = createWorld(management);
    const { id } = await queuedRun(w);
    async function* batches(): AsyncGenerator<Rows> {
      yield rows;
      const run = await reporting.find(w, id);
      await w.send('report_run.cancel', { ...run }, {});
    }
    const refusal = await refusalOf(reporting.attempt(id, { readReport: sinkOf(batches()) }));
    expect(refusal.code).toBe('state_not_allowed');
    expect((await reporting.find(w, id)).lifecycle_state).toBe('cancelled');
    expect(await reporting.keysOf(id)).toEqual([]);
    const { rows: operations } = await management.pool.query(
      `select state from operation where command_type = 'report.run' and subject_id = $1`,
      [id],
    );
    expect(operations).toEqual([{ state: 'cancelled' }]);
  });

  test('a worker that is told to stop reads no further and stores nothing', async () => {
    const w = createWorld(management);
    const { id } = await queuedRun(w);
    const controller = new AbortController();
    let read = 0;
    async function* batches(): AsyncGenerator<Rows> {
      for (; read < 10; read++) {
        if (read === 3) controller.abort();
        yield rows;
      }
    }
    await expect(reporting.attempt(id, { readReport: sinkOf(batches()) }, controller.signal)).rejects.toThrow(
      'aborted',
    );
    expect(read).toBe(3);
    expect(await reporting.keysOf(id)).toEqual([]);
    expect((await reporting.find(w, id)).lifecycle_state).toBe('running');
  });

  test('a worker that stalls beyond its lease removes its own files only, after another has recorded the result', async () => {
    const w = createWorld(management);
    const { id } = await queuedRun(w);
    async function* stalled(): AsyncGenerator<Rows> {
      await reporting.endLease(id);
      await reporting.attempt(id, { readReport: sinkOf([rows]) });
      yield rows;
    }
    await refusalOf(reporting.attempt(id, { readReport: sinkOf(stalled()) }));
    const run = await reporting.find(w, id);
    expect(run.lifecycle_state).toBe('ready');
    expect(await reporting.keysOf(id)).toEqual(run.attributes.files!.map(({ storage_key: key }) => key).sort());
    expect(await reporting.download(w, id, 'csv')).toMatchObject({ rowCount: 2 });
  });

  test('a store that fails after the result is recorded takes none of its files; those of other attempts go with the run', async () => {
    const w = createWorld(management);
    const { id } = await queuedRun(w);
    const { store } = management;
    const olderKey = `reports/${id}/older/report.csv`;
    await store.put(olderKey, Buffer.from('day'), { contentType: 'text/csv' });
    let isAway = true;
    const failing: typeof store = Object.assign(Object.create(store) as typeof store, {
      remove: (key: string) => {
        if (!isAway) return store.remove(key);
        isAway = false;
        return Promise.reject(new Error('the store is away'));
      },
    });
    await expect(reporting.attempt(id, { store: failing, readReport: sinkOf([rows]) })).rejects.toThrow('away');
    expect((await reporting.find(w, id)).lifecycle_state).toBe('ready');
    expect(await reporting.download(w, id, 'jsonl')).toMatchObject({ rowCount: 2 });
    expect(await reporting.keysOf(id)).toContain(olderKey);
    await removeReportFiles(store, id);
    expect(await reporting.keysOf(id)).toEqual([]);
  });

  test('a worker that loses the answer to its record leaves the files, because they may be recorded', async () => {
    const w = createWorld(management);
    const { id } = await queuedRun(w);
    const execute: ReportOptions['execute'] = async (request, actor) => {
      const outcome = await management.execute(request, actor);
      if (request.commandType === 'report_run.record') throw new Problem('temporarily_unavailable');
      return outcome;
    };
    const refusal = await refusalOf(reporting.attempt(id, { execute, readReport: sinkOf([rows]) }));
    expect(refusal.code).toBe('temporarily_unavailable');
    expect(await reporting.download(w, id, 'csv')).toMatchObject({ rowCount: 2 });
  });

  test('files of an attempt that was not recorded are removed by the attempt that is', async () => {
    const w = createWorld(management);
    const { id } = await queuedRun(w);
    const execute: ReportOptions['execute'] = (request, actor) =>
      request.commandType === 'report_run.record'
        ? Promise.reject(new Problem('temporarily_unavailable'))
        : management.execute(request, actor);
    await refusalOf(reporting.attempt(id, { execute, readReport: sinkOf([rows]) }));
    const left = await reporting.keysOf(id);
    expect(left).toHaveLength(2);
    await reporting.endLease(id);
    await reporting.attempt(id, { readReport: sinkOf([rows]) });
    const kept = await reporting.keysOf(id);
    expect(kept).toHaveLength(2);
    expect(kept.filter((key) => left.includes(key))).toEqual([]);
  });

  test('operation.cancel ends it: the operation and the run are cancelled, and the job stops', async () => {
    const w = createWorld(management);
    const run = await queuedRun(w);
    await management.execute(
      {
        workspaceId: w.workspaceId,
        commandType: 'operation.cancel',
        idempotencyKey: newId('req'),
        subject: { type: 'operations', id: run.updated_by.operation_id },
        changes: { cause: 'Asked for the wrong month.' },
      },
      w.actor,
    );
    expect((await reporting.find(w, run.id)).lifecycle_state).toBe('cancelled');
    const { rows: ended } = await management.pool.query(
      `select o.state as operation, j.state as job from operation o join job j on j.subject_id = o.subject_id where o.id = $1`,
      [run.updated_by.operation_id],
    );
    expect(ended).toMatchObject([{ operation: 'cancelled' }]);
    expect(['queued', 'running']).not.toContain(ended[0].job);
  });

  test('only the requester, an owner or an admin may cancel it', async () => {
    const w = createWorld(management);
    const asker = person(w.workspaceId, ['sales']);
    const { id, version } = await activeReport(w);
    const run = () =>
      w.send('report.run', null, { definition_id: id, definition_version: version, window: november }, asker);
    const first = await run();
    const cancel = (view: typeof first, roles: Parameters<typeof person>[1]) =>
      w.send('report_run.cancel', view, {}, person(w.workspaceId, roles));
    expect((await refusalOf(cancel(first, ['finance', 'trafficker']))).code).toBe('permission_denied');
    expect((await cancel(first, ['admin'])).lifecycle_state).toBe('cancelled');
    expect((await w.send('report_run.cancel', await run(), {}, asker)).lifecycle_state).toBe('cancelled');
  });

  test('a sink that fails is asked again, and the attempts before leave no objects', async () => {
    const w = createWorld(management);
    const { id } = await queuedRun(w);
    let attempts = 0;
    const readReport: ReportOptions['readReport'] = async function* (...call) {
      attempts += 1;
      yield* sinkOf([rows])(...call);
      if (attempts < 3) throw new Problem('temporarily_unavailable');
    };
    const failures: unknown[] = [];
    await using _runner = startJobRunner({
      pool: management.pool,
      execute: management.execute,
      handlers: { run_report: createReportHandler(reporting.optionsOf({ readReport })) },
      onError: (error) => failures.push(error),
      pollMs: 20,
      backOffMs: () => 1,
    });
    await until(async () => (await reporting.find(w, id)).lifecycle_state === 'ready');
    expect([attempts, failures.length]).toEqual([3, 2]);
    expect(await reporting.keysOf(id)).toHaveLength(2);
    // queued, running, ready: a repetition is no version.
    expect((await reporting.find(w, id)).version).toBe(3);
  });

  test('a result expires by the clock after its days; then it has no files and no address', async () => {
    const w = createWorld(management);
    const { id } = await queuedRun(w);
    await reporting.attempt(id, { readReport: sinkOf([rows]) });
    const { expires_at: expiresAt } = (await reporting.find(w, id)).attributes;
    const leftDays = (Date.parse(expiresAt!) - management.clock().getTime()) / dayMs;
    expect(Math.round(leftDays)).toBe(30);
    expect(await reporting.keysOf(id)).toHaveLength(2);
    await using _clock = startClock({
      ...management,
      tasks: reportTasks,
      clock: () => new Date(Date.parse(expiresAt!) + 1),
      everyMs: 20,
      onError: (error) => {
        throw error;
      },
    });
    await until(async () => (await reporting.find(w, id)).lifecycle_state === 'expired');
    const { rows: events } = await management.pool.query<{ payload: DomainEvent }>(
      `select payload from outbox where type = 'report_run.expired' and payload -> 'subject' ->> 'id' = $1`,
      [id],
    );
    // What its follower does with the event.
    for (const { payload } of events) await removeReportFiles(management.store, payload.subject.id);
    expect(await reporting.keysOf(id)).toEqual([]);
    const sign = createSignReport(management.pool, management.store, management.clock);
    expect((await refusalOf(sign(w.workspaceId, id, 'csv'))).code).toBe('not_found');
  });
});

describe('a schedule', () => {
  const dueRuns = async (w: World) =>
    (
      await management.pool.query<{ attributes: { window: object; scheduled_for: string; requested_by: string } }>(
        `select attributes from resource where resource_type = 'report_runs' and workspace_id = $1 order by created_at, id`,
        [w.workspaceId],
      )
    ).rows.map(({ attributes }) => attributes);

  test('makes one run for each period, late ones too, however many clocks there are; an archived report makes none', async () => {
    const [w, ended] = [createWorld(management), createWorld(management)];
    const schedule = { every: 'day', hour: 4 };
    const definition = await activeReport(w, { schedule });
    await ended.send('report_definition.archive', await activeReport(ended, { schedule }), {});
    const later = () => new Date(management.clock().getTime() + 3 * dayMs);
    const options = { ...management, tasks: reportTasks, clock: later, everyMs: 20, onError: () => undefined };
    await using _first = startClock(options);
    await using _second = startClock(options);
    await until(async () => (await dueRuns(w)).length >= 3);
    const made = await dueRuns(w);
    expect(made).toHaveLength(3);
    expect(new Set(made.map(({ scheduled_for: at }) => at)).size).toBe(3);
    for (const { window, scheduled_for: at, requested_by: by } of made) {
      const midnight = Date.parse(at) - 4 * 3_600_000;
      expect(window).toEqual({
        start: new Date(midnight - dayMs).toISOString(),
        end: new Date(midnight).toISOString(),
      });
      expect(by).toBe('system:clock');
    }
    await w.send('report_definition.revise', definition, { schedule: null });
    const { rowCount } = await management.pool.query('select from report_schedule where definition_id = any($1)', [
      [definition.id],
    ]);
    expect(rowCount).toBe(0);
    expect(await dueRuns(ended)).toEqual([]);
  });

  test('begins when the report is activated, and follows a revision of it', async () => {
    const w = createWorld(management);
    const nextOf = async (id: string) =>
      (
        await management.pool.query<{ next_at: Date }>('select next_at from report_schedule where definition_id = $1', [
          id,
        ])
      ).rows[0]?.next_at;
    const draft = await w.send('report_definition.create', null, {
      ...dailyReport,
      schedule: { every: 'day', hour: 4 },
    });
    expect(await nextOf(draft.id)).toBeUndefined();
    const active = await w.send('report_definition.activate', draft, {});
    expect((await nextOf(draft.id))?.getUTCHours()).toBe(4);
    const revised = await w.send('report_definition.revise', active, { schedule: { every: 'day', hour: 7 } });
    expect((await nextOf(draft.id))?.getUTCHours()).toBe(7);
    expect((await w.send('report_definition.revise', revised, { name: 'Numbers' })).attributes['schedule']).toEqual({
      every: 'day',
      hour: 7,
    });
  });
});

describe('is refused, with the field that is wrong:', () => {
  const fieldsOf = async (attempted: Promise<unknown>) => {
    const problem = await refusalOf(attempted);
    return [problem.code, ...(problem.context.errors ?? []).map(({ path }) => path)];
  };
  test.each<readonly [string, object, string]>([
    ['a dimension that a metric does not know', { dimensions: ['campaign'] }, '/changes/dimensions'],
    ['a filter that a metric does not know', { filters: { campaign: ['cmp_1'] } }, '/changes/filters'],
    ['ads in a window of downloads', { counting_basis: 'last_touch_24h' }, '/changes/counting_basis'],
    ['a zone half an hour off', { time_zone: 'Asia/Kolkata' }, '/changes/time_zone'],
    ['a zone that does not exist', { time_zone: 'Mars/Olympus' }, '/changes/time_zone'],
    ['a metric twice', { metrics: ['downloads', 'downloads'] }, '/changes/metrics'],
    ['a filter by time', { filters: { day: ['2026-11-01'] } }, '/changes/filters/day'],
  ])('a definition with %s', async (_what, changes, path) => {
    const w = createWorld(management);
    const created = w.send('report_definition.create', null, { ...dailyReport, ...changes });
    expect(await fieldsOf(created)).toEqual(['validation_failed', path]);
  });

  test.each<readonly [string, object]>([
    ['minutes', { start: '2026-11-01T00:30:00Z', end: '2026-11-02T00:00:00Z' }],
    ['eleven years', { start: '2015-01-01T00:00:00Z', end: '2026-01-01T00:00:00Z' }],
  ])('a window of %s', async (_what, window) => {
    const w = createWorld(management);
    expect(await fieldsOf(queuedRun(w, {}, window))).toEqual(['validation_failed', '/changes/window']);
  });

  test('a run of a draft, of an archived report, or of one of another workspace', async () => {
    const [w, other] = [createWorld(management), createWorld(management)];
    const run = (definition: { id: string; version: number }) =>
      w.send('report.run', null, {
        definition_id: definition.id,
        definition_version: definition.version,
        window: november,
      });
    const draft = await w.send('report_definition.create', null, dailyReport);
    expect((await refusalOf(run(draft))).code).toBe('state_not_allowed');
    const archived = await w.send('report_definition.archive', draft, {});
    expect((await refusalOf(run(archived))).code).toBe('state_not_allowed');
    expect((await refusalOf(run(await activeReport(other)))).code).toBe('link_not_found');
  });

  test('the address of a result to another workspace, and while there is none', async () => {
    const [w, other] = [createWorld(management), createWorld(management)];
    const { id } = await queuedRun(w);
    const sign = createSignReport(management.pool, management.store, management.clock);
    expect((await refusalOf(sign(w.workspaceId, id, 'csv'))).code).toBe('not_found');
    await reporting.attempt(id, { readReport: sinkOf([rows]) });
    expect((await refusalOf(sign(other.workspaceId, id, 'csv'))).code).toBe('not_found');
    expect(await reporting.download(w, id, 'csv')).toMatchObject({ rowCount: 2 });
  });
});
