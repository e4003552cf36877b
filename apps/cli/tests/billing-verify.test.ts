import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { jcsDigest } from '@longwave/idempotency';
import { newId } from '@longwave/ids';
import {
  computeStatement,
  inputsOf,
  renderStatement,
  statementFormats,
  statementOf,
  type StatementFormat,
} from '@longwave/money';
import { daysOf } from '@longwave/podcast-analytics/zoned-days';
import { bareEnvironment } from '@longwave/test-kit';
import { sha256Of } from '../src/billing/read-statement.ts';

const script = path.resolve(import.meta.dirname, '../src/main.ts');
const folder = mkdtempSync(path.join(tmpdir(), 'longwave-billing-'));
const [workspaceId, lineItemId, campaignId, id] = [newId('ws'), newId('li'), newId('cmp'), newId('bil')];

const from = '2026-11-01T00:00:00.000Z';
const period = { start: from, end: '2026-12-01T00:00:00.000Z' };
const inputs = {
  ...{ campaign_id: campaignId, campaign_version: 4, currency: 'EUR', time_zone: 'Europe/Berlin', charged: period },
  ...{ known_at: '2026-12-02T00:00:00.000Z', earlier_statement_ids: [], reconciliation_ids: [newId('rec')] },
  line_items: [
    {
      ...{ line_item_id: lineItemId, version: 9, name: 'Pre-roll', window: period, began_at: from, earlier: [] },
      rates: [{ from, model: 'cpm' as const, price_micros: '18500000', basis: 'ad_delivered' as const }],
    },
  ],
};
const readings = [
  { line_item_id: lineItemId, units: { start: [0], end: [1234] }, adjustments: [] as { readonly quantity: number }[] },
];
const parts = { adjustments: { count: 0, sha256: jcsDigest([]) }, methodology_version: '3', lists_version: '7' };
const stored = {
  ...{
    kind: 'invoice' as const,
    period,
    inputs,
    ...computeStatement(inputs, readings as never, daysOf('Europe/Berlin')),
  },
  evidence: { ...parts, inputs_digest: jcsDigest(inputsOf({ inputs, evidence: { ...parts, inputs_digest: '' } })) },
};
const issue = {
  ...{ number: 12, issued_at: '2026-12-02T09:00:00.000Z' },
  parties: { issuer_name: 'Harbour', advertiser_name: 'Tidewater', campaign_name: 'Autumn' },
};
const rendered = (format: StatementFormat) =>
  renderStatement(statementOf({ id, workspace_id: workspaceId }, stored, issue), format);
const documents = statementFormats.map((format) => ({
  ...{ format, sha256: sha256Of(rendered(format)), size_bytes: rendered(format).length },
}));
const statement = {
  ...{ id, workspace_id: workspaceId, lifecycle_state: 'issued' },
  attributes: { campaign_id: campaignId, requested_by: 'acc_1', ...stored, ...issue, documents },
};

/** What the service answers, by path; a test may alter it. */
let answers: Map<string, string | Buffer>;
const base = `/management/v1/workspaces/${workspaceId}`;
const server = createServer((request, response) => {
  const answer = answers.get(request.url!);
  const refusal = { status: 404, code: 'not_found', detail: 'There is no such resource.' };
  response.writeHead(answer === undefined ? 404 : 200).end(answer ?? JSON.stringify(refusal));
});
const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  mkdirSync(path.join(folder, 'longwave'));
  const management = {
    ...{ issuer: origin(), resource: `${origin()}/management/v1`, scope: 'management:read' },
    ...{ access_token: 'token', expires_at: new Date(Date.now() + 3_600_000).toISOString() },
  };
  writeFileSync(path.join(folder, 'longwave/sign-in.json'), JSON.stringify({ management }));
});
beforeEach(() => {
  const route = `${base}/billing-statements/${id}`;
  answers = new Map<string, string | Buffer>([
    [`${base}/resources/billing_statements/${id}`, JSON.stringify(statement)],
    [`${route}/ledger`, JSON.stringify({ known_at: inputs.known_at, readings })],
    ...statementFormats.flatMap((format): [string, string | Buffer][] => [
      [`${route}/document?format=${format}`, JSON.stringify({ url: `${origin()}/objects/${format}` })],
      [`/objects/${format}`, rendered(format)],
    ]),
  ]);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  server.close();
});

async function verify(...args: readonly string[]) {
  const child = spawn(process.execPath, [script, 'billing', 'verify', ...args, '--workspace', workspaceId], {
    env: { ...bareEnvironment, XDG_CONFIG_HOME: folder },
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, ...texts };
}

test('a statement that is what the ledger says ends with 0; so does a copy of its CSV', async () => {
  const copy = path.join(folder, 'copy.csv');
  writeFileSync(copy, rendered('csv'));
  const { status, stdout, stderr } = await verify(id, '--document', copy);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain(`Statement 12 (${id}), 22.83 EUR, by the ledger as known at ${inputs.known_at}.`);
  expect(stdout.match(/^✓/gm)).toHaveLength(7);
  expect(stdout).toContain('It is what the ledger says.');
});

test('one altered byte of a stored document ends with 1 and is named, as text and as JSON', async () => {
  const altered = Buffer.from(rendered('html').toString().replace('22.83', '22.93'));
  answers.set('/objects/html', altered);
  const { status, stdout } = await verify(id, '--json');
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ verified: false, number: 12, total: '22.83 EUR' },
    checks: expect.arrayContaining([
      {
        name: 'html document',
        ok: false,
        detail: expect.stringMatching(/byte \d+ on: “93 EUR.* in place of “83 EUR/s),
      },
      { name: 'json document', ok: true, detail: expect.stringContaining('SHA-256') },
    ]),
  });
});

test('another number in the ledger, other inputs and another total are each found', async () => {
  const path = `${base}/billing-statements/${id}/ledger`;
  const other = readings.map((each) => ({ ...each, units: { start: [0], end: [1233] } }));
  answers.set(path, JSON.stringify({ known_at: inputs.known_at, readings: other }));
  const wrongInputs = {
    ...statement,
    attributes: { ...statement.attributes, tax_note: 'x', inputs: { ...inputs, campaign_version: 5 } },
  };
  answers.set(`${base}/resources/billing_statements/${id}`, JSON.stringify(wrongInputs));
  const { status, stdout } = await verify(id);
  expect(status).toBe(1);
  expect(stdout).toMatch(/✗ inputs .*and the statement names/);
  expect(stdout).toMatch(
    /✗ ledger .*1234 units, 0 days, 22.83 EUR; the ledger says charge .*1233 units, 0 days, 22.81 EUR/,
  );
  expect(stdout).toContain('✗ csv document');
  expect(stdout).toContain('Do not pay or settle it');
});

test('a statement that nobody sees, a draft and a wrong command line say what to do', async () => {
  const [missing, malformed] = await Promise.all([verify(newId('bil')), verify('12')]);
  expect(missing).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('manage list billing_statements'),
  });
  expect(malformed).toMatchObject({ status: 2, stderr: expect.stringContaining('is no ID of a statement') });
  const draft = { ...statement, lifecycle_state: 'draft', attributes: { ...statement.attributes, number: undefined } };
  answers.set(`${base}/resources/billing_statements/${id}`, JSON.stringify(draft));
  const file = path.join(folder, 'copy.pdf');
  const [drafted, unknown] = await Promise.all([verify(id), verify(id, '--document', file)]);
  expect(drafted).toMatchObject({ status: 1, stderr: expect.stringContaining('manage run billing_statement.issue') });
  expect(unknown).toMatchObject({ status: 2, stderr: expect.stringContaining('.json, .csv, .html') });
});
