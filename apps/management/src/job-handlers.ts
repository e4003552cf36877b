import type { GuardedFetch } from '@longwave/guarded-fetch';
import { createBatchWork } from './hosting/batch-encodings/batch-work.ts';
import { createCloneWork } from './advertising/campaigns/clone-work.ts';
import { createImportWork } from './hosting/imports/import-work.ts';
import { createPublishImportWork } from './hosting/imports/publish-import-work.ts';
import { createCompileWork } from './advertising/serving-plans/plan-compiler.ts';
import { createExportWork, type ExportWorkOptions } from './hosting/statistics-exports/export-work.ts';
import type { OwnJobKind, Work } from './background/job-runner.ts';

/** What management does itself, by the kind of job. */
export const createJobHandlers = (
  options: ExportWorkOptions & { readonly fetch: GuardedFetch },
): Readonly<Record<OwnJobKind, Work>> => ({
  compile_serving_plan: createCompileWork(options),
  clone_campaign: createCloneWork(options),
  import_feed: createImportWork(options),
  publish_import: createPublishImportWork(options),
  run_batch_encoding: {
    run: createBatchWork(options),
    attemptsMax: 60,
    // A batch mostly waits for encoders.
    slots: 8,
    fail: {
      commandType: 'batch_encoding.fail',
      problem: {
        code: 'batch_gave_up',
        detail: 'The batch encoding failed too often and was given up. Start another one.',
      },
    },
  },
  export_statistics: {
    run: createExportWork(options),
    attemptsMax: 20,
    fail: {
      commandType: 'statistics_export.fail',
      problem: { code: 'export_gave_up', detail: 'The export could not be made. Start another one.' },
    },
  },
});
