import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { workspaceRoot } from '@longwave/fleet';
import { dataOptionOf, describeAccount, describeRunning } from '../next-steps.ts';
import { createReport } from '../report.ts';

function open(isTTY: boolean, env: Readonly<Record<string, string>> = {}) {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 100 });
  let nowMs = 0;
  const report = createReport({ stream, env, now: () => nowMs });
  return { report, text: () => String(stream.read() ?? ''), pass: (ms: number) => void (nowMs += ms) };
}

test('a step that holds prints its name, time and result on one line', async () => {
  const { report, text, pass } = open(false);
  await report.step('upload', async () => {
    pass(1_234);
    return '1.6 MB';
  });
  expect(text()).toMatch(/^✓ upload +1\.2 s {3}1\.6 MB\n$/);
});

test('a step that fails prints the reason and passes the error on', async () => {
  const { report, text, pass } = open(false);
  const failing = report.step('feed', async () => {
    pass(12);
    throw new Error('no ETag');
  });
  await expect(failing).rejects.toThrow('no ETag');
  expect(text()).toMatch(/^✗ feed +12 ms {3}no ETag\n$/);
});

test('without a terminal a long step prints each quarter once', async () => {
  const { report, text } = open(false);
  await report.step('encode', async (progress) => {
    for (let percent = 0; percent <= 100; percent += 1) progress(percent / 100);
    return 'done';
  });
  expect(text().match(/\d+ %/g)).toEqual(['25 %', '50 %', '75 %']);
});

test.each([
  ['NO_COLOR', '1'],
  ['TERM', 'dumb'],
])('a terminal with %s=%s gets plain lines', async (name, value) => {
  const { report, text } = open(true, { [name]: value });
  await report.step('encode', async (progress) => {
    progress(0.5);
    return 'done';
  });
  expect(text()).toMatch(/^[^\p{Cc}]*\n[^\p{Cc}]*\n$|^[^\p{Cc}]*\n$/u);
});

test('on a terminal the bar is overwritten by the result', async () => {
  const { report, text } = open(true);
  await report.step('encode', async (progress) => {
    progress(0.5);
    return 'done';
  });
  const written = text();
  expect(written).toContain('██████████████░░░░░░░░░░░░░░  50 %');
  expect(written.split('\n')).toHaveLength(2);
  expect(written.slice(written.lastIndexOf('\r'))).toMatch(/✓.* encode .* done\n$/);
});

describe('npm start ends with', () => {
  const urls = { base: 'http://localhost:8080', mcp: 'http://m', api: 'http://localhost:8082', media: 'http://f' };
  const endingOn = (dataFolder: string, hasConsole = true) =>
    describeRunning({
      urls,
      dataFolder,
      databaseFolder: `${dataFolder}/postgres`,
      logsFolder: `${dataFolder}/logs`,
      mailFolder: `${dataFolder}/mail`,
      dataOption: dataOptionOf(dataFolder),
      hasConsole,
    });
  const commandsOn = (dataFolder: string) =>
    [...endingOn(dataFolder).matchAll(/^ {2}npm run (.*?) {2}/gm)].map(([, command]) => command);

  test('the page to open, the next three commands and a tour that is there', () => {
    const dataFolder = path.join(workspaceRoot, '.longwave');
    expect(endingOn(dataFolder).split('\n').filter(Boolean).slice(0, 2)).toEqual([
      'Longwave is running.',
      'Open http://localhost:8080/ and sign up.',
    ]);
    expect(endingOn(dataFolder, false)).toContain(
      'Sign up at http://localhost:8080/sign-up, and go on in another terminal',
    );
    expect(commandsOn(dataFolder)).toEqual([
      'longwave -- account create --name "My podcasts"',
      'demo -- --audio FILE',
      'longwave -- --help',
    ]);
    const pages = endingOn(dataFolder).match(/docs\/\S+\.md/g);
    expect(pages).toContain('docs/api-tour.md');
    for (const page of pages ?? []) expect(existsSync(path.join(workspaceRoot, page))).toBe(true);
  });

  test.each([
    ['/data/podcasts', '/data/podcasts'],
    ["/data/Anna's podcasts", String.raw`'/data/Anna'\''s podcasts'`],
  ])('commands that find the data folder %s', (dataFolder, word) => {
    expect(commandsOn(dataFolder)).toEqual([
      `longwave -- account create --name "My podcasts" --data ${word}`,
      `demo -- --audio FILE --data ${word}`,
      'longwave -- --help',
    ]);
  });
});

test('the text in the picture of npm start ends as npm start does', () => {
  const text = readFileSync(path.join(workspaceRoot, 'docs/images/npm-start.txt'), 'utf8');
  const dataFolder = '~/longwave/.longwave';
  const url = (port: number) => `http://localhost:${port}`;
  const ending = describeRunning({
    urls: { base: url(8080), mcp: url(8081), api: url(8082), media: url(8083) },
    dataFolder,
    databaseFolder: `${dataFolder}/postgres`,
    logsFolder: `${dataFolder}/logs`,
    mailFolder: `${dataFolder}/mail`,
    dataOption: '',
    hasConsole: true,
  });
  expect(text.slice(-ending.length)).toBe(ending);
});

test('the API key of a demo is shown on a terminal, and nowhere else', () => {
  const account = { accountId: 'acc_1', apiKey: 'secret-text' };
  const shown = (isTerminal: boolean) => describeAccount(account, { isTerminal, dataOption: ' --data /data' });
  expect(shown(true)).toContain('API key secret-text');
  expect(shown(false)).not.toContain('secret-text');
  expect(shown(false)).toContain('npm run longwave -- key create --account acc_1 --data /data');
});
