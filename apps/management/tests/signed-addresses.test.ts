import { expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import { roles } from '@longwave/principal';
import { claimJob } from '../src/background/job-table.ts';
import { createReportHandler } from '../src/workspace/reports/run-report.ts';
import { queuedRun } from './_examples-reports.ts';
import { withoutTrace } from './_http.ts';
import { api as http, management } from './_shared-http.ts';
import { hour, person } from './_values.ts';
import { createWorld, type World } from './_world.ts';

const plan = { name: 'network', includesAnalytics: true, requestsPerMinute: 1, uploadUrlsPerMinute: 1 };

/** A run that is ready, with one row. */
async function readyRun(w: World, changes: Parameters<typeof queuedRun>[1] = {}): Promise<string> {
  const { id } = await queuedRun(w, changes);
  const job = await claimJob(management.pool, ['run_report'], 'test', 600_000);
  await createReportHandler({
    ...management,
    findPlan: async () => ({ plan }),
    readReport: async function* () {
      yield {
        content: {
          $case: 'basis',
          value: { methodologyVersion: '1', completeUntilMs: 1n, window: 'WINDOW_CALENDAR_UTC', restated: [] },
        },
      };
      yield { content: { $case: 'rows', value: { rows: [{ keys: ['2026-11-01', 'pod_1'], values: [7n, 1n] }] } } };
    },
  }).run(job!, new AbortController().signal);
  return id;
}

test('the result of a report is read by a short-lived address; a role that sees no analytics gets none, another workspace sees no run', async () => {
  const w = createWorld(management);
  const id = await readyRun(w);
  const path = `/workspaces/${w.workspaceId}/report-runs/${id}/result`;
  const tokenOf = (...roles: Parameters<typeof person>[1] & object) => http.tokenFor(person(w.workspaceId, roles));

  const answer = await http.call(`${path}?format=jsonl`, { token: tokenOf('finance') });
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(answer.json).toMatchObject({ format: 'jsonl', row_count: 1 });
  const lifeMs = Date.parse(answer.json.expires_at) - management.clock().getTime();
  expect(lifeMs).toBeLessThanOrEqual(hour / 4);
  expect(await (await fetch(answer.json.url)).text()).toBe(
    '{"day":"2026-11-01","podcast":"pod_1","downloads":7,"ads_delivered":1}\n',
  );
  expect((await http.call(path, { token: tokenOf('analyst') })).json).toMatchObject({ format: 'csv' });
  expect((await http.call(path, { token: tokenOf('editor') })).json).toMatchObject({ code: 'permission_denied' });
  expect((await http.call(`${path}?format=xlsx`, { token: tokenOf('owner') })).status).toBe(422);

  const stranger = createWorld(management);
  const token = http.tokenFor(stranger.actor);
  const foreign = await http.call(`/workspaces/${stranger.workspaceId}/report-runs/${id}/result`, { token });
  const missing = `rpr_${'0'.repeat(26)}`;
  const unknown = await http.call(`/workspaces/${stranger.workspaceId}/report-runs/${missing}/result`, { token });
  expect(foreign.status).toBe(404);
  expect(withoutTrace(foreign).replaceAll(id, 'ID')).toBe(withoutTrace(unknown).replaceAll(missing, 'ID'));
});

test('what a report says of money is read by the roles that read statements, what was counted by those of reports and analytics', async () => {
  const w = createWorld(management);
  const runs = {
    money: await readyRun(w, { dimensions: ['currency', 'basis'], metrics: ['revenue_micros'] }),
    counts: await readyRun(w),
  };
  const readersOf = async (id: string) => {
    const path = `/workspaces/${w.workspaceId}/report-runs/${id}/result`;
    const answers = roles.map(async (role) => {
      const { status } = await http.call(path, { token: http.tokenFor(person(w.workspaceId, [role])) });
      return { role, status };
    });
    return (await Promise.all(answers)).filter(({ status }) => status === 200).map(({ role }) => role);
  };
  expect((await readersOf(runs.money)).sort()).toEqual([...productCatalog.resources.billing_statements.readers].sort());
  const counts = ['admin', 'analyst', 'finance', 'owner', 'publisher', 'sales', 'trafficker'];
  expect((await readersOf(runs.counts)).sort()).toEqual(counts);
});

test('a part is sent to an address that is signed when it is read, after its command; nothing that is stored or replayed has a signature', async () => {
  const w = createWorld(management);
  const upload = await w.partedUpload();
  const token = http.tokenFor(w.actor);
  const root = `/workspaces/${w.workspaceId}`;
  const part = (nth: number | string) => http.call(`${root}/uploads/${upload.id}/parts/${nth}`, { token });
  expect((await part(1)).status).toBe(404);

  const key = newId('req');
  const ask = (version: number, idempotencyKey = key) =>
    http.call(`${root}/commands/upload.sign_part`, {
      token,
      headers: { 'idempotency-key': idempotencyKey },
      body: { subject: { type: 'uploads', id: upload.id, version }, changes: { part_number: 2 } },
    });
  const first = await ask(1);
  expect([first.status, first.json.state, first.json.result]).toEqual([
    200,
    'succeeded',
    { type: 'uploads', id: upload.id, version: 2 },
  ]);
  expect((await ask(1)).text).toBe(first.text);

  const signed = await part(2);
  expect([signed.status, signed.json.part_number, signed.headers.get('cache-control')]).toEqual([200, 2, 'no-store']);
  const bytes = Buffer.alloc(40_000_000 - 31_457_280, 1);
  expect((await fetch(signed.json.url, { method: 'PUT', body: bytes })).status).toBe(200);
  expect((await fetch(signed.json.url, { method: 'PUT', body: bytes.subarray(1) })).ok).toBe(false);
  for (const nth of [1, 3, 'two', '02']) expect((await part(nth)).status).toBe(404);

  const version = (await http.call(`${root}/resources/uploads/${upload.id}`, { token })).json.version as number;
  const beyond = await http.call(`${root}/commands/upload.sign_part`, {
    token,
    headers: { 'idempotency-key': newId('req') },
    body: { subject: { type: 'uploads', id: upload.id, version }, changes: { part_number: 3 } },
  });
  expect(beyond.json).toMatchObject({ code: 'validation_failed', errors: [{ path: '/changes/part_number' }] });
  const onlyReads = http.tokenFor(w.actor, ['management:read']);
  expect((await http.call(`${root}/uploads/${upload.id}/parts/2`, { token: onlyReads })).status).toBe(403);

  for (const table of ['revision', 'operation', 'receipt', 'idempotency_record', 'outbox']) {
    const { rowCount } = await management.pool.query(`select from ${table} t where t::text ilike '%amz-signature%'`);
    expect([table, rowCount]).toEqual([table, 0]);
  }
});
