import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { productCatalog } from '@longwave/command-catalog';
import { findResource, listInStates, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import { incompleteFromMs, provisionalFromMs } from '@longwave/podcast-analytics/completeness';
import { historyStartMs } from '@longwave/podcast-analytics/analytics-range';
import { daysOf } from '@longwave/podcast-analytics/zoned-days';
import type { Pool } from '@longwave/postgres';
import { isProblem, type ProblemCode } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import { Window, type AudienceServiceService, type ReportBasis } from '@longwave/rpc/audience';
import type { AccountServiceService } from '@longwave/rpc/credential';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf, type ClaimedJob } from '../../background/job-table.ts';
import { MoneyNotCounted, readMoney } from '../../commerce/billing/read-money.ts';
import type { Ledger } from '../../commerce/billing/read-ledger.ts';
import { filtersOf, isOfMoney, moneyFields, type ReportRun } from './report.ts';
import {
  removeAttemptFiles,
  removeOtherAttempts,
  ReportTooLarge,
  storeReport,
  type ReportLimits,
  type ReportLine,
} from './report-files.ts';

const hourMs = 3_600_000;
/** The longest that one report may take to be read. */
const readMs = 600_000;

const wireWindows = {
  calendar_utc: Window.CALENDAR_UTC,
  first_touch_24h: Window.FIRST_TOUCH_24H,
  last_touch_24h: Window.LAST_TOUCH_24H,
} as const satisfies Record<ReportRun['counting_basis'], Window>;

export interface ReportOptions {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
  readonly readReport: RpcClient<typeof AudienceServiceService>['readReport'];
  /** What reports of money are computed from. */
  readonly ledger: Ledger;
  readonly findPlan: RpcClient<typeof AccountServiceService>['findPlan'];
  readonly clock: () => Date;
  /** The most that a result may hold. */
  readonly limits?: ReportLimits;
}

const defaultLimits: ReportLimits = { maxRows: 1_000_000, maxBytes: 256 * 2 ** 20 };

/** Answers to `report_run.record` that say that it recorded nothing: the run has ended, or another attempt has the job. */
const unrecorded: readonly ProblemCode[] = ['lease_lost', 'state_not_allowed', 'not_found'];

/** The window as far as the plan's history reaches back, by the days of the report's zone. */
function cutWindow({ window, time_zone: timeZone }: ReportRun, historyDays: number | undefined, now: Date) {
  const [requestedFrom, to] = [Date.parse(window.start), Date.parse(window.end)];
  const from = Math.min(to, Math.max(requestedFrom, historyStartMs(historyDays, now, daysOf(timeZone))));
  return {
    from,
    to,
    ...(from > requestedFrom && {
      history_window: {
        from: new Date(from).toISOString(),
        requested_from: new Date(requestedFrom).toISOString(),
        days: historyDays!,
      },
    }),
  };
}

const names = (run: ReportRun, dimension: string): boolean =>
  [...run.dimensions, ...filtersOf(run).map((filter) => filter.dimension)].some((name) => name === dimension);

/** Advertisers of all campaigns of the workspace, for a report that names them; a campaign never changes its advertiser. */
async function listAdvertisers(pool: Pool, workspaceId: string, run: ReportRun) {
  if (!names(run, 'advertiser')) return [];
  const campaigns = await listInStates(pool, workspaceId, 'campaigns', productCatalog.resources.campaigns.states);
  return campaigns.map(({ id, attributes }) => ({ campaignId: id, advertiserId: attributes.advertiser_id }));
}

/** Types of all line items of the workspace, for a report that names them; one that may have served never changes its type. */
async function listLineItemTypes(pool: Pool, workspaceId: string, run: ReportRun) {
  if (!names(run, 'type')) return [];
  const lineItems = await listInStates(pool, workspaceId, 'line_items', productCatalog.resources.line_items.states);
  return lineItems.map(({ id, attributes }) => ({ lineItemId: id, type: attributes.type }));
}

/** How the numbers of a range were counted, as the answers of the REST API say it. */
function basisOf(range: { readonly from: number; readonly to: number }, basis: ReportBasis) {
  const instant = (ms: number | bigint) => new Date(Number(ms)).toISOString();
  const completeMs = Number(basis.completeUntilMs);
  const incompleteMs = incompleteFromMs(range.from, completeMs);
  return {
    data_watermark: instant(completeMs),
    provisional_from: instant(provisionalFromMs(completeMs)),
    ...(incompleteMs < range.to && { incomplete_from: instant(incompleteMs) }),
    methodology_version: basis.methodologyVersion,
    restated: basis.restated.map(({ fromMs, toMs, restatedAtMs }) => ({
      from: instant(fromMs),
      to: instant(toMs),
      restated_at: instant(restatedAtMs),
    })),
  };
}

/**
 * Counts a report: asks the plan how far back it may look, reads the rows of the sink as a stream, writes them to files of this process
 * and stores those. An attempt that fails or is stopped removes its own files, never those of another attempt, which may be the recorded
 * ones. It leaves them when it cannot know whether they are recorded; the attempt that records removes those of all others, and the end of
 * the run (`report_run.failed`, `.cancelled`, `.expired`) removes every file.
 */
export const createReportHandler = (options: ReportOptions): JobHandler => ({
  maxAttempts: 20,
  concurrency: 2,
  fail: {
    commandType: 'report_run.fail',
    problem: { code: 'report_gave_up', detail: 'The report could not be counted. Run it again.' },
  },
  run: async (job, signal) => {
    const { pool, store, execute, clock } = options;
    const { workspace_id: workspaceId, subject_id: runId } = job;
    const run = await findResource(pool, workspaceId, 'report_runs', runId);
    const send = (step: string) => ({ workspaceId, idempotencyKey: `${job.lease_id}:${step}`, reason: leaseOf(job) });
    // An attempt that crashed has begun it already.
    if (run?.lifecycle_state === 'queued')
      await executeAsManagement(execute, send('begin'), { type: 'report_run.begin', id: runId, changes: {} });
    const { plan } = await options.findPlan({ workspaceId }, { signal });
    if (plan?.includesAnalytics !== true) {
      const problem = { code: 'analytics_unavailable', detail: 'The plan of the workspace includes no analytics.' };
      await executeAsManagement(execute, send('fail'), { type: 'report_run.fail', id: runId, changes: { problem } });
      return;
    }
    const folder = await mkdtemp(path.join(tmpdir(), 'longwave-report-'));
    let mayBeRecorded = false;
    try {
      const changes = await countReport(options, job, run!.attributes, {
        folder,
        signal,
        historyDays: plan.historyDays,
        now: clock(),
      });
      mayBeRecorded = true;
      await executeAsManagement(execute, send('record'), { type: 'report_run.record', id: runId, changes });
    } catch (error) {
      if (!mayBeRecorded || isProblem(error, ...unrecorded)) await removeAttemptFiles(store, runId, job.lease_id);
      if (!(error instanceof ReportTooLarge || error instanceof MoneyNotCounted)) throw error;
      const problem = { code: 'report_too_large', detail: error.message };
      await executeAsManagement(execute, send('fail'), { type: 'report_run.fail', id: runId, changes: { problem } });
      return;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    await removeOtherAttempts(store, runId, job.lease_id);
  },
});

/** Reads and stores the rows of a run; returns what its record says. */
async function countReport(
  { pool, store, readReport, ledger, limits = defaultLimits }: ReportOptions,
  { workspace_id: workspaceId, subject_id: runId, lease_id: attempt }: ClaimedJob,
  run: ReportRun,
  at: {
    readonly folder: string;
    readonly signal: AbortSignal;
    readonly historyDays: number | undefined;
    readonly now: Date;
  },
) {
  const { history_window, ...range } = cutWindow(run, at.historyDays, at.now);
  const isEmpty = range.from === range.to;
  const lineItemTypes = await listLineItemTypes(pool, workspaceId, run);
  const messages = readReport(
    {
      workspaceId,
      // An empty range asks for one hour, because the answer also says until when facts are counted.
      range: { fromMs: BigInt(range.from), toMs: BigInt(range.to + (isEmpty ? hourMs : 0)) },
      // Of a report of money the sink says alone until when the ledger is complete.
      ...(isOfMoney(run)
        ? { dimensions: [], metrics: ['ads_billable'], filters: [] }
        : { dimensions: run.dimensions, metrics: run.metrics, filters: filtersOf(run) }),
      window: wireWindows[run.counting_basis],
      timeZone: run.time_zone,
      advertisers: await listAdvertisers(pool, workspaceId, run),
      lineItemTypes: isOfMoney(run) ? [] : lineItemTypes,
    },
    { deadlineMs: readMs, signal: at.signal },
  );
  let basis: ReportBasis | undefined;
  async function* batches(): AsyncGenerator<readonly ReportLine[]> {
    for await (const { content } of messages) {
      if (content?.$case === 'basis') basis = content.value;
      if (content?.$case === 'rows' && !isEmpty && !isOfMoney(run)) yield content.value.rows;
    }
    if (!basis || isEmpty || !isOfMoney(run)) return;
    yield await readMoney(pool, ledger, {
      ...{ workspaceId, signal: at.signal, filters: filtersOf(run), ...moneyFields(run), lineItemTypes },
      ...{ from: new Date(range.from), to: new Date(range.to), knownAt: new Date(Number(basis.completeUntilMs)) },
    });
  }
  const { dimensions, metrics } = run;
  const stored = await storeReport(store, batches(), { ...at, runId, attempt, dimensions, metrics, limits });
  if (!basis) throw new Error('the sink sent a report without its basis');
  return { ...stored, ...basisOf(range, basis), ...(history_window && { history_window }) };
}
