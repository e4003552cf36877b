import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { describeCatalog, productCatalog } from '@longwave/command-catalog';
import { showAlerts } from '../src/manage/alerts.ts';
import { writeChanges } from '../src/manage/changes.ts';
import { showDecisions, showTrace } from '../src/manage/decisions.ts';
import { writeDocument } from '../src/manage/document.ts';
import { showFunnel } from '../src/manage/funnel.ts';
import { showItems } from '../src/manage/items.ts';
import { openManagementApi, Refusal, type ManagementApi } from '../src/manage/management-api.ts';
import { get, list, showCommands } from '../src/manage/read-commands.ts';
import { writeReceipts } from '../src/manage/receipts.ts';
import { writeResult } from '../src/manage/result.ts';
import { runCommand } from '../src/manage/run-command.ts';
import { watchOperation } from '../src/manage/watch.ts';

interface Seen {
  readonly url: string;
  readonly lastId: string | undefined;
  readonly key: string | undefined;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** Requests in the order of their arrival, and the answers that the next ones get. */
const seen: Seen[] = [];
const answers: ((request: IncomingMessage, response: ServerResponse) => void)[] = [];
const told: string[] = [];
const server = createServer((request, response) => {
  void text(request).then((body) => {
    const { 'idempotency-key': key, 'last-event-id': lastId, authorization } = request.headers;
    seen.push({ url: request.url!, lastId: lastId?.toString(), key: key?.toString(), authorization, body });
    answers.shift()!(request, response);
  });
});
let api: ManagementApi;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const resource = `http://127.0.0.1:${(server.address() as AddressInfo).port}/management/v1`;
  let nth = 0;
  api = openManagementApi(
    async () => ({ resource, access_token: `token-${++nth}` }),
    (line) => void told.push(line),
  );
});
afterAll(() => new Promise<void>((done) => void server.close(() => done())));
beforeEach(() => {
  for (const list of [seen, answers, told]) list.length = 0;
});

const problem =
  (status: number, code: string, more: object = {}, headers: object = {}) =>
  (_: unknown, to: ServerResponse) =>
    void to
      .writeHead(status, { 'content-type': 'application/problem+json', ...headers })
      .end(JSON.stringify({ status, code, detail: 'It is refused.', trace_id: 't', ...more }));
const command = {
  method: 'POST',
  path: '/workspaces/ws_1/commands/x',
  headers: { 'Idempotency-Key': 'k' },
  body: {},
} as const;

test('a lost answer, a busy service and a running twin are asked again, with the same key and a token that is good', async () => {
  answers.push(
    (request) => void request.socket.destroy(),
    problem(429, 'rate_limited', {}, { 'retry-after': '1' }),
    problem(409, 'idempotency_in_progress', {}, { 'retry-after': '1' }),
    (_, to) => void to.end('{"id": "op_1"}'),
  );
  expect(await api.ask(command)).toEqual({ id: 'op_1' });
  expect(seen.map(({ key }) => key)).toEqual(['k', 'k', 'k', 'k']);
  expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
  expect(new Set(seen.map(({ authorization }) => authorization)).size).toBe(4);
  expect(told).toEqual([
    'The service did not answer. Trying again in 1 s.',
    'The service is busy. Trying again in 1 s.',
    'The service is busy. Trying again in 1 s.',
  ]);
});

test('a sign-in that cannot be used ends a request at once; one whose renewal was lost on the way is tried again', async () => {
  const resource = `http://127.0.0.1:${(server.address() as AddressInfo).port}/management/v1`;
  const ended = openManagementApi(
    () => Promise.reject(new Error('Sign in again.')),
    (line) => void told.push(line),
  );
  await expect(ended.ask(command)).rejects.toThrow('Sign in again.');
  expect(told).toEqual([]);
  let tries = 0;
  const restarting = openManagementApi(
    async () => {
      if (++tries === 1) throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') });
      return { resource, access_token: 't' };
    },
    (line) => void told.push(line),
  );
  answers.push((_, to) => void to.end('{}'));
  expect(await restarting.ask(command)).toEqual({});
  expect(told).toEqual(['The service did not answer. Trying again in 1 s.']);
});

test('a refusal is asked once, and names every field, the operation and where to look', async () => {
  answers.push(
    problem(409, 'idempotency_conflict', {
      operation_id: 'op_1',
      recovery_url: 'https://api.test/op_1',
      errors: [{ path: '/changes/name', code: 'required', detail: '“name” is missing.' }],
    }),
  );
  const refusal: unknown = await api.ask(command).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Refusal);
  expect((refusal as Refusal).message).toBe(
    [
      'It is refused. (idempotency_conflict)',
      '  /changes/name: “name” is missing.',
      '  Operation: op_1',
      '  See: https://api.test/op_1',
      '  Trace: t',
    ].join('\n'),
  );
  expect(seen).toHaveLength(1);
});

test('a stream is read event by event, whatever the pieces in which it comes', async () => {
  answers.push((_, to) => {
    to.writeHead(200, { 'content-type': 'text/event-stream' });
    const whole = 'id: 1\ndata: {"state":"accepted"}\n\n: still here\n\nid: 2\ndata: {"state":\ndata: "running"}\n\n';
    for (const piece of whole.match(/[\s\S]{1,7}/g)!) to.write(piece);
    to.end();
  });
  const events = [];
  for await (const event of api.events('/workspaces/ws_1/operations/op_1/events')) events.push(event);
  expect(events).toEqual([
    { id: '1', data: { state: 'accepted' } },
    { id: '2', data: { state: 'running' } },
  ]);
});

const json = (body: unknown) => (_: unknown, to: ServerResponse) => void to.end(JSON.stringify(body));
const plain = (body: string) => (_: unknown, to: ServerResponse) => void to.end(body);
const stream = (...events: object[]) =>
  plain(events.map((data, at) => `id: ${at + 1}\ndata: ${JSON.stringify(data)}\n\n`).join(''));
const catalog = json(describeCatalog(productCatalog));
const inWorkspace = ['--workspace', 'ws_1'];
const paths = () => seen.map(({ url }) => url.replace('/management/v1', ''));

describe('work that failed', () => {
  const failed = {
    ...{ id: 'op_1', state: 'failed', subject: { type: 'report_runs', id: 'rpr_1', version: 2 } },
    problem: { code: 'analytics_unavailable', detail: 'The plan has no analytics.' },
  };
  afterAll(() => {
    process.exitCode = 0;
  });

  test('is explained beside what --print prints, and the exit code says that it failed', async () => {
    answers.push(catalog, json({ ...failed, state: 'accepted', problem: undefined }), stream(failed), json(failed));
    const window = ['--window.start', '2026-12-01T00:00:00Z', '--window.end', '2026-12-02T00:00:00Z'];
    const line = ['report.run', '--definition_id', 'rpd_1', '--definition_version', '1', ...window, ...inWorkspace];
    expect(await runCommand(api, [...line, '--wait', '--print', 'id'], (said) => void told.push(said))).toBe('rpr_1');
    expect(told).toEqual([
      'failed',
      'It failed: analytics_unavailable: The plan has no analytics. “manage get rpr_1” shows more.',
    ]);
    expect(process.exitCode).toBe(1);
  });

  test('explains why its report has no result', async () => {
    const missing = problem(404, 'not_found', { detail: 'There is no result of rpr_1.' });
    const run = (state: string, more = {}) => json({ lifecycle_state: state, attributes: more });
    const result = () => writeResult(api, ['rpr_1', ...inWorkspace], process.stdout);
    answers.push(missing, run('failed', { problem: failed.problem }));
    await expect(result()).rejects.toThrow('The run failed: analytics_unavailable: The plan has no analytics.');
    answers.push(missing, run('running'));
    await expect(result()).rejects.toThrow('The run is running: it has no result yet.');
    answers.push(missing, missing);
    await expect(result()).rejects.toThrow('There is no result of rpr_1. (not_found)');
  });
});

test('operations and receipts are read by their IDs, and watching anything else names the command that shows it', async () => {
  answers.push(json({ id: 'op_1' }), json({ id: 'rcp_1' }));
  expect(await get(api, ['op_1', ...inWorkspace])).toContain('op_1');
  expect(await get(api, ['rcp_1', ...inWorkspace])).toContain('rcp_1');
  expect(paths()).toEqual(['/workspaces/ws_1/operations/op_1', '/workspaces/ws_1/receipts/rcp_1']);
  await expect(watchOperation(api, '/workspaces/ws_1', 'rpr_1', () => undefined)).rejects.toThrow('“manage get rpr_1”');
});

test('a type is named by its noun too, also where its commands are listed', async () => {
  answers.push(catalog, json({ rows: [] }), catalog, catalog);
  expect(await list(api, ['campaign', ...inWorkspace])).toBe('There are none.');
  expect(paths().at(-1)).toMatch(/^\/workspaces\/ws_1\/resources\/campaigns\?/);
  expect(await showCommands(api, ['operations'])).toMatch(/^operation\.cancel /m);
  expect(await showCommands(api, ['advertiser'])).toMatch(/^advertiser\.create /m);
});

test('decisions are listed with the line items that won, and a trace is shown; without their scope it says how to sign in', async () => {
  const decided = { decided_at: '2026-11-23T12:00:00.000Z', outcome: 'filled', no_ad_reason: null };
  const rows = [{ decision_id: 'dec_1', ...decided, picks: [{ line_item_id: 'li_1' }] }];
  answers.push(json({ rows }), json({ decision_id: 'dec_1' }), problem(403, 'insufficient_scope'));
  expect(await showDecisions(api, ['--line_item_id', 'li_1', ...inWorkspace])).toBe(
    'dec_1  2026-11-23T12:00:00.000Z  filled  li_1',
  );
  expect(await showTrace(api, ['dec_1', ...inWorkspace])).toContain('dec_1');
  await expect(showTrace(api, ['dec_1', ...inWorkspace])).rejects.toThrow('management:diagnostics');
  expect(paths()).toEqual([
    '/workspaces/ws_1/decisions?line_item_id=li_1',
    ...['/workspaces/ws_1/decisions/dec_1/trace', '/workspaces/ws_1/decisions/dec_1/trace'],
  ]);
});

test('resources without a name are told apart by their number, kind, time and subject', async () => {
  const row = { id: 'bil_1', version: 2, lifecycle_state: 'issued', updated_at: '2026-12-02T09:00:00.000Z' };
  const period = { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' };
  answers.push(catalog, json({ rows: [{ ...row, attributes: { campaign_id: 'cmp_1', period, number: 12 } }] }));
  expect(await list(api, ['billing_statements', ...inWorkspace])).toMatch(/ 12 {2}2026-11-01 to 2026-12-01 {2}cmp_1$/);
});

test.each([
  ['campaigns', { budget: { amount_micros: '5000000000', currency: 'EUR' } }, 'budget 5000.00 EUR'],
  ['campaigns', {}, 'Tea'],
  ['line_items', { rate: { model: 'cpm', price: { amount_micros: '18000000', currency: 'EUR' } } }, '18.00 EUR cpm'],
  ['line_items', { rate: { model: 'cpm', price: { amount_micros: '12345670', currency: 'EUR' } } }, '12.34567 EUR cpm'],
  ['line_items', { rate: { model: 'none' } }, 'Tea'],
  ['inventory_units', { min_cpm: { amount_micros: '900000000', currency: 'JPY' } }, 'min_cpm 900 JPY'],
  ['billing_statements', { total_micros: '-2490000', inputs: { currency: 'EUR' } }, 'total -2.49 EUR'],
])('a list of %s ends with what money they have: %j', async (type, attributes, shown) => {
  const row = { id: 'x_1', version: 2, lifecycle_state: 'draft', updated_at: '2026-12-02T09:00:00.000Z' };
  answers.push(catalog, json({ rows: [{ ...row, attributes: { name: 'Tea', ...attributes } }] }));
  const line = await list(api, [type, ...inWorkspace]);
  expect(line.split('  ').at(-1)).toBe(shown);
});

test('items of a reconciliation are a table with our number beside theirs, and --json for programs', async () => {
  const item = {
    ...{ item_id: 'itm_1', source: 'gam', line_item_id: 'li_1', day: '2026-11-01', ours: 100, theirs: 90 },
    ...{ delta_pct: -10, ambiguity: 'provisional', verdict: null },
  };
  answers.push(json({ rows: [item], next_cursor: 'c' }), json({ rows: [item] }), json({ rows: [] }));
  expect(await showItems(api, ['rec_1', '--undecided', ...inWorkspace])).toMatch(
    /^item .*\nitm_1 +gam +li_1 +2026-11-01 +100 +90 +-10 % +provisional\n… and more: --all$/,
  );
  expect(JSON.parse(await showItems(api, ['rec_1', '--json', ...inWorkspace]))).toEqual([item]);
  expect(await showItems(api, ['rec_1', ...inWorkspace])).toBe('There are none.');
  const items = '/workspaces/ws_1/reconciliations/rec_1/items?';
  expect(paths()).toEqual([`${items}undecided=true`, items, items]);
});

test('alerts say what they are about, and a discrepancy where its items are', async () => {
  const alert = { state: 'open', raised_at: '2026-11-23T12:00:00.000Z', line_item_id: 'li_1' };
  const behind = { ...alert, kind: 'behind_plan', raised: { units: 30, goal: 1000, short_by: 'plan' } };
  const differs = {
    ...{ ...alert, kind: 'discrepancy' },
    raised: { units: 0, goal: 1000, discrepancy: { reconciliation_id: 'rec_1', source: 'gam', days: 3 } },
  };
  answers.push(json({ rows: [behind, differs] }));
  expect((await showAlerts(api, ['--state', 'open', ...inWorkspace])).split('\n')).toEqual([
    'behind_plan  open  2026-11-23T12:00:00.000Z  li_1  30 units, goal 1000, short by plan',
    'discrepancy  open  2026-11-23T12:00:00.000Z  li_1  goal 1000, source gam on 3 days: manage items rec_1',
  ]);
  expect(paths()).toEqual(['/workspaces/ws_1/alerts?state=open']);
});

test('a funnel says where a line item stands, what was decided about it, and what held it back in each hour', async () => {
  const numbers = { requests: 9, breaks: 8, opportunities: 7, decided: 3, served: 2, delivered: 2, confirmed: 1 };
  const funnel = {
    ...{ line_item_id: 'li_1', from: '2026-11-23T12:00:00.000Z', to: '2026-11-23T13:00:00.000Z', fit: null },
    pacing: { state: 'on_plan', urgency: 0, goal: 1000, used: 3, committed: 2.6, target: 3 },
    total: { ...numbers, verdicts: [{ code: 'outranked', considered: 4, not_looked_at: 16, change: 'priority' }] },
    hours: [
      { hour: '2026-11-23T12:00:00.000Z', ...numbers, pacing: { target: 3, committed: 2.6, short_by: 'day' } },
      { hour: '2026-11-23T13:00:00.000Z', ...numbers, pacing: null },
    ],
  };
  answers.push(json(funnel), json(funnel));
  const shown = await showFunnel(api, ['li_1', ...inWorkspace]);
  expect(shown).toContain('now on_plan, urgency 0: goal 1000, used 3, committed 3, target 3');
  expect(shown).toMatch(/^ {2}outranked +4 +16 +ask a forecast with another priority$/m);
  expect(shown).toMatch(/^ {2}2026-11-23T12:00:00\.000Z +3 +3 +3 +1 +day$/m);
  expect(JSON.parse(await showFunnel(api, ['li_1', '--from', '2026-11-23', '--json', ...inWorkspace]))).toEqual(funnel);
  const path = '/workspaces/ws_1/line-items/li_1/funnel';
  expect(paths()).toEqual([path, `${path}?from=2026-11-23`]);
});

test('a document of a statement is written as it is stored, and refused when its bytes are others', async () => {
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`;
  const signed = (sha256: string) => (_: unknown, to: ServerResponse) =>
    void to.end(JSON.stringify({ url: url(), sha256 }));
  const written = async () => {
    const out = new PassThrough();
    await writeDocument(api, ['bil_1', '--format', 'csv', ...inWorkspace], out);
    return text(out.end());
  };
  const digest = createHash('sha256').update('number\r\n').digest('hex');
  answers.push(signed(digest), plain('number\r\n'), signed(digest), plain('numbre\r\n'));
  expect(await written()).toBe('number\r\n');
  await expect(written()).rejects.toThrow('cut off or changed');
  expect(paths()[0]).toBe('/workspaces/ws_1/billing-statements/bil_1/document?format=csv');
});

describe('changes', () => {
  const change = (nth: number) => ({
    ...{ cursor: `c${nth}`, kind: 'revision', type: 'campaign.created', occurred_at: `2026-11-23T12:00:0${nth}.000Z` },
    subject: { type: 'campaigns', id: `cmp_${nth}`, version: 1 },
  });
  const lines: string[] = [];
  const out = { write: (line: string) => void lines.push(line), tell: (line: string) => void told.push(line) };
  beforeEach(() => void (lines.length = 0));

  test('are written page after page with the cursor to go on from', async () => {
    answers.push(json({ rows: [change(1)], next_cursor: 'c1', more: true }));
    answers.push(json({ rows: [change(2)], next_cursor: 'c2', more: false }));
    await writeChanges(api, ['--all', ...inWorkspace], out);
    expect(lines).toEqual([
      '2026-11-23T12:00:01.000Z  campaign.created  cmp_1  version 1',
      '2026-11-23T12:00:02.000Z  campaign.created  cmp_2  version 1',
    ]);
    expect(told).toEqual(['That is all. Later ones: --after c2']);
  });

  test('are followed over several streams without a repetition, until the access ends', async () => {
    answers.push(stream(change(1), change(2)), stream({ code: 'token_invalid', detail: 'The token has ended.' }));
    await expect(writeChanges(api, ['--follow', '--json', ...inWorkspace], out)).rejects.toThrow('token_invalid');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([change(1), change(2)]);
    expect(paths()[0]).toBe('/workspaces/ws_1/changes?after=now');
    expect(seen.map(({ lastId }) => lastId)).toEqual([undefined, '2']);
  });
});

test('receipts are written byte for byte, page after page', async () => {
  const pages = [
    '{"seq":1,"id":"rcp_1","jws":"a"}\n{"seq":2,"id":"rcp_2","jws":"b"}\n',
    '{"seq":3,"id":"rcp_3","jws":"c"}\n',
  ];
  answers.push(...[...pages, ''].map(plain));
  let written = '';
  await writeReceipts(api, inWorkspace, (page) => void (written += page));
  expect(written).toBe(pages.join(''));
  expect(paths()).toEqual([
    '/workspaces/ws_1/receipts?',
    ...['/workspaces/ws_1/receipts?after=2', '/workspaces/ws_1/receipts?after=3'],
  ]);
});
