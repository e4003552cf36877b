import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { findBrowser } from '@longwave/test-kit';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { startStandIn } from '../tools/stand-in.mjs';

const stack = new AsyncDisposableStack();
let url = '';
let browser: Browser;
let context: BrowserContext;
let page: Page;
beforeAll(async () => {
  const server = await startStandIn(0);
  stack.defer(() => void server.close());
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-gpu'] });
  stack.defer(() => browser.close());
});
afterEach(() => context.close());
afterAll(() => stack.disposeAsync());

/** The end of ids in answers-finance.json. */
const one = '1'.padStart(26, '0');
const management = '/management/v1/workspaces/ws_1';

/** Opens a page; `sent` are the bodies of the commands that it sends, which are taken. */
async function open(address: string): Promise<{ readonly sent: unknown[] }> {
  context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin' });
  page = await context.newPage();
  const sent: unknown[] = [];
  await context.route(`**${management}/commands/*`, async (route) => {
    sent.push([new URL(route.request().url()).pathname.split('/').at(-1), route.request().postDataJSON()]);
    const subject = { type: 'uploads', id: `upl_${one}`, version: 1 };
    await route.fulfill({
      json: { id: 'op_1', command_type: 'x.y', state: 'waiting_review', subject, receipt_id: 'r' },
    });
  });
  await page.goto(`${url}${address}`);
  return { sent };
}

test('a chosen item is decided by its form: the item is named, and a choice and a note are needed', async () => {
  const { sent } = await open(`/w/ws_1/reconciliations/rec_${one}`);
  const table = page.getByRole('table', { name: 'Open differences' });
  await table.getByRole('link', { name: 'Mid-roll, Germany' }).click();
  await page.getByRole('heading', { name: 'Decide this item' }).waitFor();
  const decide = page.getByRole('button', { name: 'Decide', exact: true });
  await decide.click();
  await page.getByText('This is needed.').first().waitFor();
  expect(sent).toEqual([]);
  await page.getByLabel('Decision', { exact: true }).selectOption('Their number');
  await page.getByLabel('Note', { exact: true }).fill('Agreed by mail.');
  await decide.click();
  await page.getByRole('heading', { name: 'Decide this item' }).waitFor({ state: 'detached' });
  const changes = { item_id: 'itm_1', verdict: 'theirs', note: 'Agreed by mail.' };
  expect(sent).toEqual([
    ['reconciliation.decide_item', { subject: { type: 'reconciliations', id: `rec_${one}` }, changes }],
  ]);
  expect(new URL(page.url()).search).toBe('');
});

test('items within the tolerance are folded, and open when one asks', async () => {
  await open(`/w/ws_1/reconciliations/rec_${one}`);
  const passed = page.getByRole('table', { name: 'Within the tolerance' });
  await page.getByRole('table', { name: 'Open differences' }).waitFor();
  expect(await passed.isVisible()).toBe(false);
  await page.getByText('56 items within the tolerance').click();
  await passed.waitFor();
});

test('whoever may not decide sees the numbers, and no form', async () => {
  context = await browser.newContext({ locale: 'en-GB' });
  await context.route('**/management/v1/me', async (route) => {
    const answer = await route.fetch();
    const text = (await answer.text()).replace(/"roles":\[[^\]]*\]/, '"roles":["sales"]');
    await route.fulfill({ response: answer, body: text });
  });
  page = await context.newPage();
  await page.goto(`${url}/w/ws_1/reconciliations/rec_${one}?item=itm_1`);
  await page.getByRole('table', { name: 'Open differences' }).waitFor();
  expect(await page.getByRole('button', { name: /Decide|Close|Match again/ }).count()).toBe(0);
});

test('the buyer’s file is sent privately as soon as it is chosen, and the reconciliation names its upload', async () => {
  const { sent } = await open('/w/ws_1/reconciliations/new');
  const stored: string[] = [];
  await context.route(`**${management}/uploads/*/address`, (route) =>
    route.fulfill({ json: { url: `${url}/stored`, headers: { 'content-type': 'text/csv' } } }),
  );
  await context.route('**/stored', async (route) => {
    stored.push(route.request().postData() ?? '');
    await route.fulfill({ status: 200, headers: { ETag: '"1"' } });
  });
  const text = 'Line item ID,Date,Impressions\n6123,2026-11-13,18930\n';
  const file = { name: 'november.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
  await page.getByLabel('File', { exact: true }).setInputFiles(file);
  await page.getByText('The file has been sent.').waitFor();
  expect(stored).toEqual([text]);
  const [grant] = sent as [[string, { readonly changes: unknown }]];
  expect(grant).toMatchObject([
    'upload.grant',
    { changes: { filename: 'november.csv', filesize: text.length, upload_type: 'private' } },
  ]);
  await page.getByRole('button', { name: 'Add: Line items' }).click();
  await page.getByLabel('Entry 1', { exact: true }).first().selectOption({ index: 1 });
  await page.getByRole('button', { name: 'New reconciliation' }).click();
  await page.waitForURL('**/reconciliations/upl_*');
  expect(sent[1]).toMatchObject([
    'reconciliation.open',
    {
      changes: {
        scope: { line_item_ids: [expect.stringMatching(/^li_/)] },
        sources: [{ kind: 'third_party', upload_ref: `upl_${one}`, time_zone: 'Europe/Berlin' }],
      },
    },
  ]);
});

test('a document is fetched from an address that is asked for when it is wanted', async () => {
  await open(`/w/ws_1/billing_statements/bil_${one}`);
  await page.getByText(`npx longwave billing verify bil_${one}`).waitFor();
  await context.route(`**${management}/billing-statements/*/document**`, (route) =>
    route.fulfill({ json: { url: `${url}/stored/statement.csv` } }),
  );
  await context.route('**/stored/statement.csv', (route) =>
    route.fulfill({ contentType: 'text/csv', headers: { 'Content-Disposition': 'attachment' }, body: 'a,b' }),
  );
  const [asked, download] = await Promise.all([
    page.waitForRequest(/\/document\?/),
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download CSV' }).click(),
  ]);
  expect(new URL(asked.url()).search).toBe('?format=csv');
  expect(download.url()).toBe(`${url}/stored/statement.csv`);
});
