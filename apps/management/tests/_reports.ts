import { createHash } from 'node:crypto';
import { expect } from '@jest/globals';
import { findResource, type ResourceRow } from '@longwave/command-pipeline';
import { Window, type ReadReportRequest, type ReadReportResponse } from '@longwave/rpc/audience';
import { claimJob, type ClaimedJob } from '../src/background/job-table.ts';
import { createReportHandler, type ReportOptions } from '../src/workspace/reports/run-report.ts';
import { createSignReport } from '../src/workspace/reports/sign-report.ts';
import { plan, type TestManagement } from './_management.ts';
import type { World } from './_world.ts';

export const dayMs = 86_400_000;
const running = new AbortController().signal;
const completeUntil = Date.parse('2026-11-20T10:20:00Z');

export type Rows = readonly (readonly [readonly string[], readonly number[]])[];
type Batches = Iterable<Rows> | AsyncIterable<Rows>;

const basisOf = (untilMs: number): ReadReportResponse => ({
  content: {
    $case: 'basis',
    value: {
      methodologyVersion: 'm-1',
      completeUntilMs: BigInt(untilMs),
      window: Window.CALENDAR_UTC,
      restated: [{ fromMs: 1_793_491_200_000n, toMs: 1_793_494_800_000n, restatedAtMs: BigInt(completeUntil) }],
    },
  },
});

/** A sink that streams these batches; it keeps what it was asked. */
export function sinkOf(
  batches: Batches,
  asked: ReadReportRequest[] = [],
  untilMs = completeUntil,
): ReportOptions['readReport'] {
  return async function* (request) {
    asked.push(request);
    yield basisOf(untilMs);
    for await (const rows of batches)
      yield {
        content: {
          $case: 'rows',
          value: { rows: rows.map(([keys, values]) => ({ keys: [...keys], values: values.map(BigInt) })) },
        },
      };
  };
}

export const rows: Rows = [
  [
    ['2026-11-01', 'pod_1'],
    [12, 3],
  ],
  [
    ['2026-11-01', '=pod,"2"'],
    [0, 9_007_199_254_740],
  ],
];

/** Runs reports of a management, and reads what they left. */
export function createReporting(management: TestManagement) {
  const optionsOf = (changes: Partial<ReportOptions> = {}): ReportOptions => ({
    ...management,
    readReport: sinkOf([]),
    findPlan: async () => ({ plan }),
    ...changes,
  });

  /** Claims jobs until one is of the run; the others were left by earlier tests. */
  async function claim(runId: string): Promise<ClaimedJob> {
    for (;;) {
      const job = await claimJob(management.pool, ['run_report'], 'test', 600_000);
      if (!job) throw new Error(`no job of ${runId}`);
      if (job.subject_id === runId) return job;
    }
  }

  const attempt = async (runId: string, changes: Partial<ReportOptions>, signal = running) =>
    createReportHandler(optionsOf(changes)).run(await claim(runId), signal);

  const find = async (w: World, id: string): Promise<ResourceRow<'report_runs'>> =>
    (await findResource(management.pool, w.workspaceId, 'report_runs', id))!;

  async function keysOf(runId: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of management.store.list(`reports/${runId}/`)) keys.push(key);
    return keys;
  }

  async function download(w: World, runId: string, format: 'csv' | 'jsonl') {
    const sign = createSignReport(management.pool, management.store, management.clock);
    const signed = await sign(w.workspaceId, runId, format);
    const response = await fetch(signed.url);
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(createHash('sha256').update(text).digest('hex')).toBe(signed.sha256);
    expect(Buffer.byteLength(text)).toBe(signed.size_bytes);
    return { text, rowCount: signed.row_count };
  }

  /** Ends the lease of the run's job, as a worker's that has not renewed it in time. */
  const endLease = (runId: string) =>
    management.pool.query(`update job set lease_until = now() - interval '1 second' where subject_id = $1`, [runId]);

  return { optionsOf, attempt, endLease, find, keysOf, download };
}
