import { setTimeout as wait } from 'node:timers/promises';
import { findResource, findRevisionBefore, listLinked, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { Episode } from '../episodes/episode.ts';
import type { ClaimedJob } from '../jobs/job-table.ts';
import { partsOf, type BatchEncoding } from './batch-encoding.ts';

/** Refusals that leave one episode as it was; anything else ends this try of the job. */
const kept: readonly string[] = [
  'state_not_allowed',
  'not_found',
  'upload_not_received',
  'validation_failed',
  'media_not_fetchable',
  'encoding_time_exhausted',
  'episode_has_no_audio',
];

interface Counts {
  readonly total: number;
  done: number;
  failed: number;
}

/** Between two reports of progress, and between two looks at encodings. */
const paceMs = 1_000;

export interface BatchWorkOptions {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
}

/**
 * One try at a batch encoding: episode by episode, under keys made of batch and episode, so that another try goes on where this one
 * ended. Ends quietly when the batch was cancelled or the lease was lost.
 */
export function createBatchWork({ pool, execute }: BatchWorkOptions) {
  return async (job: ClaimedJob, signal: AbortSignal): Promise<void> => {
    const { workspace_id: workspaceId, subject_id: batchId } = job;
    const found = await findResource(pool, workspaceId, 'batch_encodings', batchId);
    const batch = found!.attributes as unknown as BatchEncoding;

    const send = async (
      key: string,
      commandType: string,
      subject: { readonly type: string; readonly id: string | null },
      changes: object,
      reason?: object,
    ): Promise<ResourceView> => {
      const request = { workspaceId, commandType, idempotencyKey: key, subject, changes, ...(reason && { reason }) };
      return (await execute(request, { kind: 'service', name: 'management' })).resource;
    };
    const report = (verb: 'advance' | 'complete', counts: Counts) =>
      send(
        `${job.lease_id}:${verb}:${counts.done}:${counts.failed}`,
        `batch_encoding.${verb}`,
        { type: 'batch_encodings', id: batchId },
        { ...counts },
        { job_id: job.id, lease_id: job.lease_id },
      );
    const isCancelled = async () => {
      const now = await findResource(pool, workspaceId, 'batch_encodings', batchId);
      return signal.aborted || now?.lifecycle_state === 'cancelled';
    };
    /** False when the episode keeps what it has. */
    const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
      try {
        await work();
        return true;
      } catch (error) {
        if (error instanceof Problem && kept.includes(error.code)) return false;
        throw error;
      }
    };

    const applyTemplate = (episodeId: string, parts: Partial<Record<'intro' | 'outro', unknown>>) =>
      send(
        `${batchId}:${episodeId}`,
        'episode.apply_template',
        { type: 'episodes', id: episodeId },
        {
          batch_encoding_id: batchId,
          ...parts,
        },
      );

    /** The batch's own parts; one that the podcast has no longer is taken away. */
    const arrange = (episode: { readonly id: string }) =>
      applyTemplate(
        episode.id,
        Object.fromEntries(partsOf(batch.initiator).map((part) => [part, batch[part] ?? null])),
      );

    /** What the episode had before the batch that is reverted. */
    const giveBack = async (id: string, episode: Episode) => {
      if (episode.batch_encoding_id !== batch.reverts) return;
      const before = (await findRevisionBefore(pool, id, 'batch_encoding_id', batch.reverts!)) as Episode | undefined;
      if (!before) return;
      const productionId = before.current_production_id;
      if (productionId !== undefined && productionId !== episode.current_production_id)
        await send(
          `${batchId}:${id}:attach`,
          'episode.attach_production',
          { type: 'episodes', id },
          {
            production_id: productionId,
          },
        );
      await applyTemplate(id, { intro: before.intro ?? null, outro: before.outro ?? null });
    };

    /** Encodes the episode's present source again; answers the new production. */
    const encodeAgain = async (id: string, episode: Episode): Promise<string> => {
      const current = await findResource(pool, workspaceId, 'productions', episode.current_production_id!);
      const production = await send(
        `${batchId}:${id}:derive`,
        'production.derive',
        { type: 'productions', id: null },
        {
          episode_id: id,
          file_url: current!.attributes['file_url'],
          batch_encoding_id: batchId,
        },
      );
      const subject = { type: 'productions', id: production.id };
      await send(`${batchId}:${id}:start`, 'production.start', subject, {});
      return production.id;
    };

    const episodes = (await listLinked(pool, workspaceId, 'episodes', 'podcast', batch.podcast_id)).filter(
      ({ lifecycle_state: state, attributes }) => state !== 'archived' && attributes['current_production_id'],
    );
    const counts: Counts = { total: episodes.length, done: 0, failed: 0 };
    const encodings: string[] = [];
    let toldAt = 0;
    const tell = async () => {
      if (performance.now() - toldAt < paceMs) return;
      toldAt = performance.now();
      await report('advance', counts);
    };

    for (const { id, attributes } of episodes) {
      if (await isCancelled()) return;
      await tell();
      const episode = attributes as unknown as Episode;
      const encodes = !batch.reverts && partsOf(batch.initiator).length === 0;
      const succeeded = await attempt(async () => {
        if (batch.reverts) await giveBack(id, episode);
        else if (encodes) encodings.push(await encodeAgain(id, episode));
        else await arrange({ id });
      });
      if (!succeeded) counts.failed += 1;
      else if (!encodes) counts.done += 1;
    }

    // Encoders work on what was started; this job only watches.
    const open = new Set(encodings);
    while (open.size > 0) {
      for (const id of open) {
        const production = await findResource(pool, workspaceId, 'productions', id);
        if (production?.lifecycle_state === 'encoding') continue;
        open.delete(id);
        counts[production?.lifecycle_state === 'encoded' ? 'done' : 'failed'] += 1;
      }
      if (open.size === 0) break;
      if (await isCancelled()) return;
      await tell();
      await wait(paceMs, undefined, { signal }).catch(() => undefined);
    }
    await report('complete', counts);
  };
}
