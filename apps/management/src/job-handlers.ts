import type { GuardedFetch } from '@longwave/guarded-fetch';
import { createBatchEncodingHandler } from './hosting/batch-encodings/run-batch-encoding.ts';
import { createCloneHandler } from './advertising/campaigns/clone-campaign.ts';
import { createCloseHandler } from './commerce/reconciliations/close-reconciliation.ts';
import { createScheduleHandler } from './commerce/makegoods/schedule-makegood.ts';
import { createMatchHandler, type ReconciliationOptions } from './commerce/reconciliations/match-reconciliation.ts';
import { createValidateHandler } from './advertising/demand-sources/validate-source.ts';
import { createImportHandler } from './hosting/imports/import-feed.ts';
import { createAskPlatformHandler, type AskPlatformOptions } from './hosting/platforms/run-submission.ts';
import { createPublishImportHandler } from './hosting/imports/publish-import.ts';
import { createRetryImportHandler } from './hosting/imports/retry-import.ts';
import { createCompileHandler } from './advertising/serving-plans/compile-serving-plan.ts';
import { createMapContentHandler } from './exchange/content/map-content.ts';
import { createExportHandler, type ExportOptions } from './hosting/statistics-exports/export-statistics.ts';
import { createEraseListenersHandler, type ErasureOptions } from './workspace/privacy/erase-listeners.ts';
import { createReportHandler, type ReportOptions } from './workspace/reports/run-report.ts';
import { createGenerateStatementHandler, type StatementJobOptions } from './commerce/billing/generate-statement.ts';
import { createStoreStatementHandler } from './commerce/billing/statement-documents.ts';
import { createTrackingCheckHandler } from './advertising/trackers/check-tracking-endpoint.ts';
import type { JobHandler } from './background/job-runner.ts';
import type { InternalJobKind } from './background/job-table.ts';

/** The handlers of management's own jobs, by kind. */
export const createJobHandlers = (
  options: ExportOptions &
    ReportOptions &
    ErasureOptions &
    StatementJobOptions &
    ReconciliationOptions &
    AskPlatformOptions & { readonly fetch: GuardedFetch; readonly random: () => number },
): Readonly<Record<InternalJobKind, JobHandler>> => ({
  compile_serving_plan: createCompileHandler(options),
  clone_campaign: createCloneHandler(options),
  import_feed: createImportHandler(options),
  publish_import: createPublishImportHandler(options),
  retry_import: createRetryImportHandler(options),
  run_batch_encoding: createBatchEncodingHandler(options),
  export_statistics: createExportHandler(options),
  run_report: createReportHandler(options),
  erase_listeners: createEraseListenersHandler(options),
  map_content: createMapContentHandler(options),
  check_tracking_endpoint: createTrackingCheckHandler(options),
  ask_platform: createAskPlatformHandler(options),
  validate_demand_source: createValidateHandler(options),
  generate_statement: createGenerateStatementHandler(options),
  store_statement: createStoreStatementHandler(options),
  match_reconciliation: createMatchHandler(options),
  close_reconciliation: createCloseHandler(options),
  schedule_makegood: createScheduleHandler(options),
});
