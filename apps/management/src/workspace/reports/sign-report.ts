import { findResource } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { ReportFormat } from './report-files.ts';

const expiresInSeconds = 900;

/** A signed address of one file of a result. Throws `not_found` unless the run is ready. */
export const createSignReport =
  (pool: Pool, store: ObjectStore, clock: () => Date) =>
  async (workspaceId: string, runId: string, format: ReportFormat) => {
    const run = await findResource(pool, workspaceId, 'report_runs', runId);
    const file = run?.attributes.files?.find((one) => one.format === format);
    if (run?.lifecycle_state !== 'ready' || !file)
      throw new Problem('not_found', `There is no result of ${runId.slice(0, 64)}.`);
    return {
      url: await store.presignGet(file.storage_key, { expiresInSeconds }),
      expires_at: new Date(clock().getTime() + expiresInSeconds * 1000).toISOString(),
      format,
      sha256: file.sha256,
      size_bytes: file.size_bytes,
      row_count: run.attributes.row_count!,
    };
  };

export type SignReport = ReturnType<typeof createSignReport>;
