import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Attributes } from '@longwave/command-catalog';
import { csvLine } from '@longwave/csv';
import type { ObjectStore } from '@longwave/object-store';

type StoredFile = NonNullable<Attributes<'report_runs'>['files']>[number];
export type ReportFormat = StoredFile['format'];

/** The most that one result may hold; the bytes are those of one file. */
export interface ReportLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** A report has more than a result may hold, or counts more than one may. Its message tells the reader what to do. */
export class ReportTooLarge extends Error {
  override readonly name = 'ReportTooLarge';
}

/** Keys and numbers in the order of the columns. */
export interface ReportLine {
  readonly keys: readonly string[];
  readonly values: readonly bigint[];
}

const contentTypes: Readonly<Record<ReportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/x-ndjson',
};

/** Objects of a run; those of one attempt have its lease in their keys. */
const prefixOf = (runId: string) => `reports/${runId}/`;
const attemptPrefixOf = (runId: string, attempt: string) => `${prefixOf(runId)}${attempt}/`;

/** A file of this process, written bit by bit, with the digest of what was written. */
async function openDigestedFile(file: string) {
  const handle = await open(file, 'w');
  const hash = createHash('sha256');
  let sizeBytes = 0;
  return {
    write: async (text: string) => {
      const bytes = Buffer.from(text);
      hash.update(bytes);
      sizeBytes += bytes.length;
      await handle.appendFile(bytes);
    },
    sizeBytes: () => sizeBytes,
    /** Once, after the last byte. */
    finish: () => ({ sha256: hash.digest('hex'), size_bytes: sizeBytes }),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/**
 * Writes a report into a folder as CSV with a header and as JSON lines, batch by batch, so that it holds one batch in memory; then stores
 * both. A result without rows is the header alone, and an empty file. Throws `ReportTooLarge` as soon as it has more than it may.
 * @param options.attempt the lease under which it is written
 */
export async function storeReport(
  store: Pick<ObjectStore, 'putFile'>,
  batches: AsyncIterable<readonly ReportLine[]>,
  options: {
    readonly folder: string;
    readonly runId: string;
    readonly attempt: string;
    readonly dimensions: readonly string[];
    readonly metrics: readonly string[];
    readonly limits: ReportLimits;
    readonly signal: AbortSignal;
  },
): Promise<{ readonly row_count: number; readonly files: StoredFile[] }> {
  const { folder, runId, attempt, dimensions, metrics, limits, signal } = options;
  const pathOf = (format: ReportFormat) => path.join(folder, `report.${format}`);
  // Whole numbers with all their digits: money in millionths is more than a double holds.
  const jsonLine = ({ keys, values }: ReportLine) =>
    `{${[
      ...dimensions.map((name, index) => `${JSON.stringify(name)}:${JSON.stringify(keys[index])}`),
      ...metrics.map((name, index) => `${JSON.stringify(name)}:${values[index]!}`),
    ].join(',')}}\n`;
  let rowCount = 0;
  const written: Pick<StoredFile, 'format' | 'sha256' | 'size_bytes'>[] = [];
  {
    await using csv = await openDigestedFile(pathOf('csv'));
    await using jsonl = await openDigestedFile(pathOf('jsonl'));
    await csv.write(csvLine([...dimensions, ...metrics]));
    for await (const lines of batches) {
      signal.throwIfAborted();
      await csv.write(lines.map(({ keys, values }) => csvLine([...keys, ...values])).join(''));
      await jsonl.write(lines.map(jsonLine).join(''));
      rowCount += lines.length;
      if (rowCount > limits.maxRows || Math.max(csv.sizeBytes(), jsonl.sizeBytes()) > limits.maxBytes)
        throw new ReportTooLarge(
          `The result has more than ${limits.maxRows.toLocaleString('en')} rows or ${Math.floor(limits.maxBytes / 2 ** 20)} MiB. Choose a shorter window, fewer dimensions or a filter.`,
        );
    }
    written.push({ format: 'csv', ...csv.finish() }, { format: 'jsonl', ...jsonl.finish() });
  }
  const files: StoredFile[] = [];
  for (const file of written) {
    signal.throwIfAborted();
    const storageKey = `${attemptPrefixOf(runId, attempt)}report.${file.format}`;
    await store.putFile(storageKey, pathOf(file.format), { contentType: contentTypes[file.format] });
    files.push({ ...file, storage_key: storageKey });
  }
  return { row_count: rowCount, files };
}

async function removeBelow(store: ObjectStore, prefix: string, keptPrefix?: string): Promise<void> {
  for await (const { key } of store.list(prefix))
    if (keptPrefix === undefined || !key.startsWith(keptPrefix)) await store.remove(key);
}

/** Removes all objects of a run that has ended without a result, or whose result is over. */
export const removeReportFiles = (store: ObjectStore, runId: string): Promise<void> =>
  removeBelow(store, prefixOf(runId));

/** Removes the objects of one attempt, which has not recorded them. */
export const removeAttemptFiles = (store: ObjectStore, runId: string, attempt: string): Promise<void> =>
  removeBelow(store, attemptPrefixOf(runId, attempt));

/** Removes the objects of all attempts but the one whose result is recorded. */
export const removeOtherAttempts = (store: ObjectStore, runId: string, recordedAttempt: string): Promise<void> =>
  removeBelow(store, prefixOf(runId), attemptPrefixOf(runId, recordedAttempt));
