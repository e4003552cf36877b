import { expect, test } from '@jest/globals';
import { runSchemathesis } from '@longwave/test-kit/schemathesis';
import { exchangeOpenApi } from '../src/http/openapi.ts';
import { episodeBody, startExchange, writer } from './_exchange.ts';

const python = process.env['TEST_SCHEMATHESIS_PYTHON'];
const perOperation = process.env['GENERATED_REQUESTS'] ?? '6';

if (python !== undefined) {
  test('requests that Schemathesis generates meet no 5xx, and no status, media type or field that is not documented', async () => {
    await using exchange = await startExchange();
    exchange.deps.receipts = { ...exchange.deps.receipts, listReceiptKeys: async () => ({ keys: [] }) };
    const host = await exchange.platform();
    const first = writer(host).write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
    expect(await exchange.submit(host, [first])).toMatchObject({ status: 202 });
    const words = {
      workspace_id: host.workspaceId,
      stream_id: 'show:1',
      message_digest: first.digest,
      source_id: 'ep-1',
    };
    const { paths, ...document } = exchangeOpenApi();
    // Management, which has the checkpoints, is a stand-in here.
    const { '/workspaces/{workspace_id}/checkpoint': _elsewhere, ...own } = paths as Record<string, object>;
    const { exitCode, output, cases, succeeded } = await runSchemathesis({
      python,
      document: { ...document, paths: own },
      url: `${exchange.origin}/hosting-exchange/v1`,
      settings: ['[parameters]', ...Object.entries(words).map(([name, word]) => `"path.${name}" = "${word}"`)].join(
        '\n',
      ),
      args: ['--max-examples', perOperation, '--header', `Authorization: Bearer ${await exchange.tokenOf(host)}`],
    });
    expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' });
    expect(cases).toBeGreaterThan(50);
    // Requests that never get past the checks prove little.
    expect(succeeded).toBeGreaterThan(5);
  }, 120_000);
} else if (process.env['REQUIRE_FOREIGN_ENGINES'] === '1') {
  test('Schemathesis is required: set TEST_SCHEMATHESIS_PYTHON', () => {
    throw new Error('REQUIRE_FOREIGN_ENGINES=1, but TEST_SCHEMATHESIS_PYTHON is not set.');
  });
} else {
  test.skip('requests that Schemathesis generates: not run, because TEST_SCHEMATHESIS_PYTHON names no Python that has it', () => {});
}
