import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findBrowser, until } from '@longwave/test-kit';
import { chromium, type Browser, type Page } from 'playwright-core';
import { startStandIn } from '../tools/stand-in.mjs';

const stack = new AsyncDisposableStack();
let url = '';
let browser: Browser;
beforeAll(async () => {
  const server = await startStandIn(0);
  stack.defer(() => void server.close());
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-gpu'] });
  stack.defer(() => browser.close());
});
afterAll(() => stack.disposeAsync());

const saidOf = (page: Page, name: string) => page.getByRole('slider', { name }).getAttribute('aria-valuetext');
const focused = (page: Page) => page.evaluate<string>("document.activeElement.getAttribute('aria-label') ?? ''");

test('with the keyboard a break is moved, snapped to a silence, added and removed, and every position is said', async () => {
  await using context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  await page.goto(`${url}/episodes/ep_14`);
  const mid = page.getByRole('slider', { name: 'Mid 1' });
  await mid.focus();
  expect(await saidOf(page, 'Mid 1')).toBe('16:42.3, in chapter The second lens');
  for (const [key, said] of [
    ['ArrowRight', '16:42.4'],
    ['Shift+ArrowLeft', '16:41.4'],
    ['s', '16:42.7'],
    ['PageDown', '16:32.7'],
  ] as const) {
    await page.keyboard.press(key);
    await until(said, async () => (await saidOf(page, 'Mid 1'))?.startsWith(said) === true);
  }
  await page.getByText('Not saved yet').waitFor();
  await page.keyboard.press('b');
  await until('the new break', async () => (await saidOf(page, 'Mid 1')) === '8:16.4, in chapter A keeper’s logbook');
  await until('the focus on it', async () => (await focused(page)) === 'Mid 1');
  await page.keyboard.press('Delete');
  await until('the one behind it', async () => (await saidOf(page, 'Mid 1'))?.startsWith('16:32.7') === true);
  await until('the focus on that', async () => (await focused(page)) === 'Mid 1');
  await page.getByRole('slider', { name: 'Position' }).press('End');
  expect(await saidOf(page, 'Position')).toBe('48:12.0');
});

test('breaks closer than ten seconds are refused beside their rows, and nothing is sent', async () => {
  await using context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  const saves: string[] = [];
  page.on('request', (request) => request.method() === 'PUT' && saves.push(request.url()));
  await page.goto(`${url}/episodes/ep_14`);
  await page.getByRole('slider', { name: 'Position' }).focus();
  await page.keyboard.press('b');
  await page.getByRole('slider', { name: 'Mid 3' }).waitFor();
  const [box, target] = [
    (await page.getByRole('slider', { name: 'Mid 1' }).boundingBox())!,
    (await page.getByRole('slider', { name: 'Mid 2' }).boundingBox())!,
  ];
  await page.mouse.move(box.x + box.width / 2, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(target.x + target.width / 2 + 1, target.y + 8, { steps: 3 });
  await page.mouse.up();
  await page.getByRole('button', { name: 'Save the breaks' }).click();
  await page.getByRole('alert').getByText('at least 10 seconds').waitFor();
  expect(saves).toEqual([]);
});

test('whoever may not hear a recording sees its wave and its breaks, is told why, and gets no button to play', async () => {
  await using context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  await page.route('**/productions/pro_1/waveform', async (route) => {
    const answer = await route.fetch();
    const { audio_url: _audio, ...body } = (await answer.json()) as Record<string, unknown>;
    await route.fulfill({ response: answer, json: body });
  });
  await page.goto(`${url}/episodes/ep_14`);
  await page.getByText('takes the right to edit').waitFor();
  await page.getByRole('slider', { name: 'Mid 1' }).focus();
  await page.keyboard.press('k');
  for (const name of ['Play', 'Pause', 'Hear the join'])
    expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('as listeners hear it: each choice asks for another play, its ads and empty slots say why, and the recording comes back', async () => {
  await using context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  const asked: unknown[] = [];
  page.on('request', (request) => request.url().endsWith('/preview') && asked.push(request.postDataJSON()));
  await page.goto(`${url}/episodes/ep_14`);
  await page.getByRole('button', { name: 'As listeners hear it' }).click();
  await page.getByText('Ad 1 of 1, Northwind Coffee').waitFor();
  expect(await saidOf(page, 'Position')).toBe('0:00.0, Ad 1 of 1, Northwind Coffee');
  await page.getByText('Those left are too long, or too close to a rival.').waitFor();
  await page.getByText('Those left have had their share.').waitFor();
  await page.getByText('Why none?').first().click();
  await page.getByText('It targets other countries').nth(1).waitFor();
  await page.getByLabel('Country', { exact: true }).selectOption('FR');
  await page.getByLabel('Device', { exact: true }).selectOption('computer');
  await page.getByLabel('When', { exact: true }).selectOption('other');
  await page.getByLabel('Day', { exact: true }).fill('2030-05-04');
  await page.getByLabel('Time', { exact: true }).fill('20:00');
  const last = { country: 'FR', app: 'Apple Podcasts', device: 'computer', at: expect.stringMatching(/^2030-05-0/) };
  await until('the last choice', async () => JSON.stringify(asked.at(-1)).includes('2030-05-04T18:00'));
  expect(asked[0]).toEqual({ country: 'GB', app: 'Apple Podcasts', device: 'mobile', operating_system: 'iOS' });
  expect(asked.at(-1)).toEqual(last);
  await page.getByRole('button', { name: 'As you made it' }).click();
  await page.getByRole('slider', { name: 'Mid 1' }).waitFor();
});
