import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { storeReport, type ReportLine } from './report-files.ts';

test('both files have all digits of numbers that are more than a double holds, and negative ones', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'report-'));
  async function* batches(): AsyncGenerator<readonly ReportLine[]> {
    yield [{ keys: ['EUR'], values: [9_007_199_254_740_993n, -5n] }];
  }
  const store = { putFile: () => Promise.resolve() };
  try {
    await storeReport(store, batches(), {
      ...{ folder, runId: 'rr_1', attempt: 'a', dimensions: ['currency'], metrics: ['revenue_micros', 'units'] },
      ...{ limits: { maxRows: 10, maxBytes: 1_000 }, signal: new AbortController().signal },
    });
    const textOf = (format: string) => readFile(path.join(folder, `report.${format}`), 'utf8');
    expect(await textOf('csv')).toBe('currency,revenue_micros,units\r\nEUR,9007199254740993,-5\r\n');
    expect(await textOf('jsonl')).toBe('{"currency":"EUR","revenue_micros":9007199254740993,"units":-5}\n');
  } finally {
    await rm(folder, { recursive: true });
  }
});
