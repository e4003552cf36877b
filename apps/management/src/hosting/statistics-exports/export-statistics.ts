import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { findResource, listLinked, type ExecuteCommand } from '@longwave/command-pipeline';
import { csvLine } from '@longwave/csv';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import type { RpcClient } from '@longwave/rpc';
import type { AudienceServiceService } from '@longwave/rpc/audience';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf, type ClaimedJob } from '../../background/job-table.ts';
import { executeAsManagement } from '../../background/execute-as-management.ts';

const dayMs = 86_400_000;
/** Days of one request to the sink. */
const stepDays = 31;
const startOfDay = (at: number) => Math.floor(at / dayMs) * dayMs;

export interface ExportOptions {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
  readonly exportDays: RpcClient<typeof AudienceServiceService>['exportDays'];
  readonly findFirstDownloads: RpcClient<typeof AudienceServiceService>['findFirstDownloads'];
  readonly clock: () => Date;
}

/**
 * Makes an export: the days of the podcast as CSV, written to a temporary file of this process, stored under its digest and recorded.
 * Columns: date (UTC), episode_id, episode_title, guid, downloads, listeners.
 */
export const createExportHandler = ({ store, execute, ...options }: ExportOptions): JobHandler => ({
  maxAttempts: 20,
  fail: {
    commandType: 'statistics_export.fail',
    problem: { code: 'export_gave_up', detail: 'The export could not be made. Start another one.' },
  },
  run: async (job, signal) => {
    const { workspace_id: workspaceId, subject_id: exportId } = job;
    const folder = await mkdtemp(path.join(tmpdir(), 'longwave-export-'));
    try {
      const file = path.join(folder, 'export.csv');
      const hash = createHash('sha256');
      let sizeBytes = 0;
      let lineCount = 0;
      await pipeline(
        Readable.from(exportLines(options, job, signal)),
        async function* (source: AsyncIterable<string>) {
          for await (const line of source) {
            const bytes = Buffer.from(line);
            hash.update(bytes);
            sizeBytes += bytes.length;
            lineCount += 1;
            yield bytes;
          }
        },
        createWriteStream(file),
      );
      const sha256 = hash.digest('hex');
      const storageKey = `exports/${sha256}.csv`;
      await store.putFile(storageKey, file, { contentType: 'text/csv; charset=utf-8' });
      await executeAsManagement(
        execute,
        { workspaceId, idempotencyKey: `${job.lease_id}:record`, reason: leaseOf(job) },
        {
          type: 'statistics_export.record',
          id: exportId,
          // The header is no row.
          changes: { file: { storage_key: storageKey, sha256, size_bytes: sizeBytes, row_count: lineCount - 1 } },
        },
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
});

/** The lines of an export: a header, then one for each day and episode. */
async function* exportLines(
  { pool, exportDays, findFirstDownloads, clock }: Omit<ExportOptions, 'store' | 'execute'>,
  { workspace_id: workspaceId, subject_id: exportId }: ClaimedJob,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const row = await findResource(pool, workspaceId, 'statistics_exports', exportId);
  const { podcast_id: podcastId, history_from: historyFrom } = row!.attributes;
  const episodes = new Map(
    (await listLinked(pool, workspaceId, 'episodes', 'podcast', podcastId)).map(
      ({ id, attributes }) => [id, attributes] as const,
    ),
  );
  const to = startOfDay(clock().getTime()) + dayMs;
  // For a podcast that moved here, another host may have reported downloads from before the move.
  const { podcasts } = await findFirstDownloads({ workspaceId, podcastIds: [podcastId] }, { deadlineMs: 60_000 });
  const firstDay = podcasts[0] === undefined ? to : startOfDay(Number(podcasts[0].hourMs));
  const from = Math.max(firstDay, historyFrom ? Date.parse(historyFrom) : 0);
  yield csvLine(['date', 'episode_id', 'episode_title', 'guid', 'downloads', 'listeners']);
  for (let fromMs = from; fromMs < to; fromMs += stepDays * dayMs) {
    signal.throwIfAborted();
    const range = { fromMs: BigInt(fromMs), toMs: BigInt(Math.min(to, fromMs + stepDays * dayMs)) };
    const { days } = await exportDays({ workspaceId, podcastId, range }, { deadlineMs: 60_000 });
    for (const day of days) {
      const episode = episodes.get(day.episodeId);
      yield csvLine([
        new Date(Number(day.dayMs)).toISOString().slice(0, 10),
        day.episodeId,
        episode?.title ?? '',
        episode?.guid ?? '',
        Number(day.downloads),
        Number(day.listeners),
      ]);
    }
  }
}
