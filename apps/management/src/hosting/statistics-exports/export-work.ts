import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { findResource, listLinked, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import type { RpcClient } from '@longwave/rpc';
import type { AudienceServiceService } from '@longwave/rpc/audience';
import { leaseOf, type ClaimedJob } from '../../background/job-table.ts';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import { csvLine } from '../csv-line.ts';

const dayMs = 86_400_000;
/** The longest range of one question. */
const stepDays = 31;
const startOfDay = (at: number) => Math.floor(at / dayMs) * dayMs;

export interface ExportWorkOptions {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
  /** Asks the sink for the days of a range. */
  readonly exportDays: RpcClient<typeof AudienceServiceService>['exportDays'];
  /** Asks the sink when the first download was. */
  readonly findFirstDownloads: RpcClient<typeof AudienceServiceService>['findFirstDownloads'];
  readonly clock: () => Date;
}

/**
 * One try at an export: the days of the podcast as CSV, written to a temporary file of this process, stored under its digest
 * and recorded. Columns: date (UTC), episode_id, episode_title, guid, downloads, listeners.
 */
export function createExportWork({ pool, store, execute, exportDays, findFirstDownloads, clock }: ExportWorkOptions) {
  return async (job: ClaimedJob, signal: AbortSignal): Promise<void> => {
    const { workspace_id: workspaceId, subject_id: exportId } = job;
    const found = await findResource(pool, workspaceId, 'statistics_exports', exportId);
    const { podcast_id: podcastId, history_from: historyFrom } = found!.attributes;
    const episodes = new Map(
      (await listLinked(pool, workspaceId, 'episodes', 'podcast', podcastId)).map(
        ({ id, attributes }) => [id, attributes] as const,
      ),
    );
    const to = startOfDay(clock().getTime()) + dayMs;
    // A podcast that moved here may have been downloaded before it was here, by what another party reported.
    const { podcasts } = await findFirstDownloads({ workspaceId, podcastIds: [podcastId] }, { deadlineMs: 60_000 });
    const begun = podcasts[0] === undefined ? to : startOfDay(Number(podcasts[0].hourMs));
    const from = Math.max(begun, historyFrom ? Date.parse(historyFrom) : 0);
    let rowCount = 0;

    async function* lines(): AsyncGenerator<string> {
      yield csvLine(['date', 'episode_id', 'episode_title', 'guid', 'downloads', 'listeners']);
      for (let fromMs = from; fromMs < to; fromMs += stepDays * dayMs) {
        signal.throwIfAborted();
        const range = { fromMs: BigInt(fromMs), toMs: BigInt(Math.min(to, fromMs + stepDays * dayMs)) };
        const { days } = await exportDays({ workspaceId, podcastId, range }, { deadlineMs: 60_000 });
        for (const day of days) {
          const episode = episodes.get(day.episodeId);
          rowCount += 1;
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

    const folder = await mkdtemp(path.join(tmpdir(), 'longwave-export-'));
    try {
      const file = path.join(folder, 'export.csv');
      const hash = createHash('sha256');
      let sizeBytes = 0;
      await pipeline(
        Readable.from(lines()),
        async function* (source: AsyncIterable<string>) {
          for await (const line of source) {
            const bytes = Buffer.from(line);
            hash.update(bytes);
            sizeBytes += bytes.length;
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
          changes: { file: { storage_key: storageKey, sha256, size_bytes: sizeBytes, row_count: rowCount } },
        },
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}
