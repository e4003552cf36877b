import type { GuardedFetch } from '@longwave/guarded-fetch';
import { createBatchWork } from '../batch-encodings/batch-work.ts';
import { createCloneWork } from '../campaigns/clone-work.ts';
import { createImportWork } from '../imports/import-work.ts';
import { createPublishImportWork } from '../imports/publish-import-work.ts';
import { createCompileWork } from '../serving-plans/plan-compiler.ts';
import { createExportWork, type ExportWorkOptions } from '../statistics-exports/export-work.ts';
import type { OwnJobKind, Work } from './job-runner.ts';

/** What management does itself, by the kind of job. */
export const createOwnWorks = (
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
