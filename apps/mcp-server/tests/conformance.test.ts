import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runConformance, type Checks } from '@longwave/test-kit';
import { build } from 'esbuild';
import { conformanceFixtures } from './_conformance-fixtures.ts';
import { openInstallation, startMcpServer, type McpUnderTest } from './_mcp.ts';
import { startTokenProxy } from './_token-proxy.ts';

const stack = new AsyncDisposableStack();
let product: McpUnderTest;
/** Addresses for the conformance package, which cannot send a token. */
let productUrl: string;
let fixturesUrl: string;
beforeAll(async () => {
  const installation = await openInstallation(stack);
  const behindProxy = async ({ url }: McpUnderTest) => `${stack.use(await startTokenProxy(url, 'owner')).url}/mcp`;
  product = stack.use(await startMcpServer(installation));
  productUrl = await behindProxy(product);
  fixturesUrl = await behindProxy(stack.use(await startMcpServer(installation, {}, conformanceFixtures)));
});
afterAll(() => stack.disposeAsync());

const baseline = path.join(import.meta.dirname, 'conformance-baseline.yaml');

/** Names of the scenarios in which something was checked, and everything was right. */
const passed = (scenarios: ReadonlyMap<string, Checks>) =>
  [...scenarios]
    .filter(([, { SUCCESS = 0, FAILURE = 0, WARNING = 0 }]) => SUCCESS > 0 && FAILURE + WARNING === 0)
    .map(([name]) => name)
    .sort();

const successes = (scenarios: Iterable<readonly [string, Checks]>) =>
  [...scenarios].reduce((sum, [, { SUCCESS = 0 }]) => sum + SUCCESS, 0);

describe('conformance package 0.1.16, revision 2025-11-25', () => {
  test('the product passes every scenario that calls nothing by name', async () => {
    const { scenarios } = await runConformance('0.1.16', ['server', '--url', productUrl]);
    expect(scenarios.size).toBe(30);
    expect(passed(scenarios)).toEqual([
      ...['dns-rebinding-protection', 'ping', 'prompts-list', 'resources-list', 'server-initialize', 'tools-list'],
    ]);
  });

  test('with the names that the scenarios call, all pass but the four that need a session', async () => {
    const args = ['server', '--url', fixturesUrl, '--expected-failures', baseline];
    const { exitCode, output, scenarios } = await runConformance('0.1.16', args);
    expect(exitCode === 0 ? 'every scenario as expected' : output).toBe('every scenario as expected');
    expect(scenarios.size).toBe(30);
    const failed = [...scenarios].filter(([, { FAILURE = 0 }]) => FAILURE > 0).map(([name]) => name);
    expect(failed.sort()).toEqual([
      ...['elicitation-sep1034-defaults', 'elicitation-sep1330-enums', 'tools-call-elicitation', 'tools-call-sampling'],
    ]);
    // The thirtieth finds no session, and checks nothing.
    expect(scenarios.get('server-sse-multiple-streams')).toEqual({ WARNING: 1 });
    expect(passed(scenarios)).toHaveLength(25);
    expect(successes(scenarios)).toBe(26);
  });
});

describe('conformance package 0.2.0-alpha.12, revision 2026-07-28', () => {
  const args = (url: string) => ['server', '--url', url, '--requirements', '2026-07-28'];
  /** Scenarios that the requirements of the revision do not count: an extension, and those that the package itself does not pass. */
  const isCounted = ([name]: readonly [string, Checks]) =>
    !name.startsWith('tasks-') &&
    !['json-schema-2020-12', 'http-header-validation', 'http-custom-header-server-validation'].includes(name);

  test('with the names that the scenarios call, all 37 that the revision requires pass', async () => {
    const { exitCode, output, scenarios } = await runConformance('0.2.0-alpha.12', args(fixturesUrl));
    expect(exitCode === 0 ? 'every scenario as expected' : output).toBe('every scenario as expected');
    const counted = [...scenarios].filter(isCounted);
    expect(counted).toHaveLength(37);
    expect(passed(new Map(counted))).toHaveLength(37);
    expect(successes(counted)).toBe(118);
  });

  test('the product passes what calls nothing by name, and checks every header against its body', async () => {
    const { scenarios } = await runConformance('0.2.0-alpha.12', args(productUrl));
    expect([...scenarios].filter(isCounted)).toHaveLength(37);
    expect(passed(new Map([...scenarios].filter(isCounted)))).toEqual([
      ...['caching', 'dns-rebinding-protection', 'input-required-result-unsupported-methods'],
      ...['input-required-result-validate-input', 'prompts-list', 'resources-list', 'sep-2164-resource-not-found'],
      ...['server-sse-multiple-streams', 'tools-list'],
    ]);
    expect(scenarios.get('server-stateless')).toMatchObject({ SUCCESS: 24, FAILURE: 4 });
    expect(scenarios.get('http-header-validation')).toEqual({ SUCCESS: 14 });
  });
});

describe('the names that the scenarios call', () => {
  test('are not in the program: it imports nothing from a folder of tests', async () => {
    const { metafile } = await build({
      entryPoints: [path.join(import.meta.dirname, '../src/main.ts')],
      ...{ bundle: true, write: false, metafile: true, format: 'esm', platform: 'node', outdir: 'none' },
      external: ['*.node'],
      packages: 'bundle',
    });
    const inputs = Object.keys(metafile.inputs).filter((file) => !file.includes('node_modules/'));
    expect(inputs.some((file) => file.endsWith('src/create-mcp-server.ts'))).toBe(true);
    expect(inputs.filter((file) => /(^|\/)tests\//.test(file))).toEqual([]);
  });

  test('are listed to no client of the product', async () => {
    const client = await product.connect('owner');
    const listed = JSON.stringify([
      await client.listTools(),
      await client.listPrompts(),
      await client.listResources(),
      await client.listResourceTemplates(),
    ]);
    expect(listed).toContain('"get_account"');
    expect(listed).not.toMatch(/"test[_:]/);
    await client.close();
  });
});
