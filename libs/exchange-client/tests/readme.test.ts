import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startExchange, type ExchangeUnderTest } from './_exchange.ts';

const root = path.join(import.meta.dirname, '..');
const repository = path.join(root, '../..');
const run = promisify(execFile);
const folder = mkdtempSync(path.join(tmpdir(), 'exchange-readme-'));
const installed = path.join(folder, 'node_modules/@longwave/exchange-client');

/** Packs the library as its README says, and unpacks it where a program finds it; its dependencies are those of the repository. */
beforeAll(() => {
  execFileSync(process.execPath, ['../../tools/package-library.mjs', 'exchange-messages'], { cwd: root });
  const [tarball] = readdirSync(path.join(root, 'dist')).filter((name) => name.endsWith('.tgz'));
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', path.join(root, 'dist', tarball!), '--strip-components=1', '-C', installed]);
  const { dependencies } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8')) as {
    dependencies: Readonly<Record<string, string>>;
  };
  for (const name of [...Object.keys(dependencies), '@types'])
    symlinkSync(path.join(repository, 'node_modules', name), path.join(folder, 'node_modules', name));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

/** The body of the first episode in the guide. */
const guideEpisode = () =>
  /episode\.json <<JSON\n([\s\S]*?)^JSON$/m.exec(
    readFileSync(path.join(repository, 'docs/hosting-exchange.md'), 'utf8'),
  )![1]!;

/** The program of the README, with the addresses and ids of an exchange in place of the shown ones. */
function programFor({ client, key, origin }: ExchangeUnderTest): string {
  const shown = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(path.join(root, 'README.md'), 'utf8'))![1]!;
  const inPlaceOf: Readonly<Record<string, string>> = {
    'https://api.longwave.example': client.apiUrl,
    'https://longwave.example/oauth/token': client.tokenUrl,
    'https://host.example/audio/first-light.mp3': `${origin}/page`,
    ...{ 'ws_…': client.workspaceId, 'agr_…': client.authorityId, 'key_…': key.kid },
  };
  return Object.entries(inPlaceOf).reduce((text, [name, value]) => text.replace(name, value), shown);
}

/** This Node, and another one that is on the path: npm runs tests on Node 24, and machines may have an older one. */
const nodes = [process.execPath, 'node'];

test.each(nodes)('the example of the README runs as it is written, on the packed library, under %s', async (node) => {
  await using exchange = await startExchange();
  writeFileSync(path.join(folder, 'example.mjs'), programFor(exchange));
  writeFileSync(path.join(folder, 'key.json'), JSON.stringify(exchange.key.privateJwk));
  writeFileSync(path.join(folder, 'episode.json'), guideEpisode());
  const { stdout } = await run(node, ['example.mjs'], {
    ...{ cwd: folder, env: { PATH: process.env['PATH'], EXCHANGE_SECRET: exchange.client.clientSecret } },
  });
  expect(stdout).toMatch(/^1 rcp_[0-9a-z]{26}\n$/);
});

test('the packed library has types for a strict program, and nothing of the repository besides', async () => {
  const program = [
    `import { createExchangeClient, InvalidMessage, type SignedMessage } from '@longwave/exchange-client';`,
    `const kept: SignedMessage[] = [];`,
    `const client = createExchangeClient({ apiUrl: 'a', tokenUrl: 'b', clientId: 'c', clientSecret: 'd', workspaceId: 'e',`,
    `  authorityId: 'f', onSigned: (messages) => void kept.push(...messages) });`,
    `const digest: string | undefined = (await client.head('show:1'))?.head?.digest;`,
    `// @ts-expect-error -- a mode that there is not`,
    `await (await client.stream('show:1')).revoke({ sourceId: 'a', sourceVersion: 1 }, { mode: 'stop' });`,
    `console.log(digest, InvalidMessage);`,
  ];
  writeFileSync(path.join(folder, 'program.mts'), program.join('\n'));
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  const compiler = path.join(repository, 'node_modules/typescript7/bin/tsc');
  const compiled = run(process.execPath, [compiler, ...options, 'program.mts'], { cwd: folder });
  await expect(compiled).resolves.toMatchObject({ stdout: '' });
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  const code = files
    .filter((name) => /\.(js|d\.ts)$/.test(name))
    .map((name) => readFileSync(path.join(installed, name), 'utf8'));
  expect(code.filter((text) => /from '@longwave/.test(text))).toEqual([]);
  expect(files.filter((name) => /test|\.ts$/.test(name.replace(/\.d\.ts$/, '')))).toEqual([]);
});
