import type { ChangesInput } from '@longwave/command-catalog';
import {
  findResource,
  findRevisionBefore,
  listLinked,
  type ExecuteCommand,
  type ResourceRow,
} from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { sleep } from '@longwave/worker-kit';
import { leaseOf, type ClaimedJob, type LeaseReport } from '../../background/job-table.ts';
import {
  executeAsManagement,
  type ManagementCommand,
  type ProductCommand,
} from '../../background/execute-as-management.ts';
import { listEncodings } from './batch-encoding-table.ts';
import { partsOf } from './batch-encoding.ts';

/** Refusals that leave one episode as it was; anything else ends this try of the job. */
const kept: readonly string[] = [
  'state_not_allowed',
  'not_found',
  'upload_not_received',
  'validation_failed',
  'media_not_fetchable',
  'encoding_time_exhausted',
  'episode_has_no_audio',
  'idempotency_conflict',
];

/**
 * What became of one episode: "kept" what it had, because it could not be done; "left" alone, because something newer looks
 * after it; or the id of a production that is encoded now.
 */
type Outcome = 'done' | 'kept' | 'left' | { readonly encodes: string };

type EpisodeRow = ResourceRow<'episodes'>;

interface Counts {
  total: number;
  done: number;
  failed: number;
}

/** Between two reports of progress, and between two polls of encodings. */
const paceMs = 1_000;

export interface BatchWorkOptions {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
}

/**
 * One try at a batch encoding: episode by episode, under keys made of batch and episode, so that another try goes on where this one
 * ended. An episode that something newer changed, or that gets new audio, is left alone and counted nowhere. Ends quietly when
 * the batch was cancelled or the lease was lost.
 */
export function createBatchWork({ pool, execute }: BatchWorkOptions) {
  return async (job: ClaimedJob, signal: AbortSignal): Promise<void> => {
    const { workspace_id: workspaceId, subject_id: batchId } = job;
    const found = await findResource(pool, workspaceId, 'batch_encodings', batchId);
    const batch = found!.attributes;

    const send = <C extends ProductCommand>(
      idempotencyKey: string,
      command: ManagementCommand<C>,
      reason?: LeaseReport,
    ) => executeAsManagement(execute, { workspaceId, idempotencyKey, ...(reason && { reason }) }, command);
    const report = (verb: 'advance' | 'complete', counts: Counts) =>
      send(
        `${job.lease_id}:${verb}:${counts.done}:${counts.failed}`,
        { type: `batch_encoding.${verb}`, id: batchId, changes: { ...counts } },
        leaseOf(job),
      );
    const refused = (error: unknown, codes: readonly string[]): boolean =>
      error instanceof Problem && codes.includes(error.code);

    /** Ends the encodings that a batch still has: nobody attaches them any more. */
    const stopEncodings = async (ofBatch: string) => {
      for (const id of await listEncodings(pool, workspaceId, batch.podcast_id, ofBatch))
        try {
          await send(`${batchId}:${id}:stop:${job.lease_id}`, { type: 'production.stop', id, changes: {} });
        } catch (error) {
          if (!refused(error, ['state_not_allowed'])) throw error;
        }
    };

    const applyTemplate = (
      episode: { readonly id: string; readonly version?: number },
      changes: Omit<ChangesInput<'episode.apply_template'>, 'batch_encoding_id'>,
    ) =>
      send(`${batchId}:${episode.id}`, {
        type: 'episode.apply_template',
        ...episode,
        changes: { batch_encoding_id: batchId, ...changes },
      });

    /** The batch's own parts; one that the podcast has no longer is taken away. */
    const arrange = async ({ id }: EpisodeRow): Promise<Outcome> => {
      await applyTemplate(
        { id },
        Object.fromEntries(partsOf(batch.initiator).map((part) => [part, batch[part] ?? null])),
      );
      return 'done';
    };

    /** What the episode had before the batch that is reverted, in one step. */
    const giveBack = async (row: EpisodeRow): Promise<Outcome> => {
      const { id, version, attributes: episode } = row;
      if (episode.batch_encoding_id === batchId) return 'done';
      if (episode.batch_encoding_id !== batch.reverts) return 'left';
      const before = await findRevisionBefore(pool, row, 'batch_encoding_id', batch.reverts!);
      if (!before) return 'left';
      const { intro = null, outro = null, current_production_id: productionId } = before;
      const isOther = productionId !== undefined && productionId !== episode.current_production_id;
      await applyTemplate({ id, version }, { intro, outro, ...(isOther && { production_id: productionId }) });
      return 'done';
    };

    /** Encodes the episode's present source again, unless new audio came or is on its way. */
    const encodeAgain = async ({ id, attributes }: EpisodeRow): Promise<Outcome> => {
      const all = await listLinked(pool, workspaceId, 'productions', 'episode', id);
      const current = all.find((production) => production.id === attributes.current_production_id)!;
      const fileUrl = current.attributes.file_url;
      const begun = all.find((production) => production.attributes.batch_encoding_id === batchId);
      if (begun && begun.lifecycle_state !== 'initial') return { encodes: begun.id };
      if (begun && begun.attributes.file_url !== fileUrl) return 'left';
      if (fileUrl === undefined) return 'kept';
      const isOnItsWay = (production: ResourceRow<'productions'>) =>
        production.id > current.id &&
        production.lifecycle_state === 'encoding' &&
        production.attributes.batch_encoding_id === undefined;
      if (all.some(isOnItsWay)) return 'left';
      const asked = { episode_id: id, file_url: fileUrl, batch_encoding_id: batchId };
      const { id: productionId } =
        begun ?? (await send(`${batchId}:${id}:derive`, { type: 'production.derive', id: null, changes: asked }));
      await send(`${batchId}:${id}:start`, { type: 'production.start', id: productionId, changes: {} });
      return { encodes: productionId };
    };

    const act = batch.reverts ? giveBack : partsOf(batch.initiator).length === 0 ? encodeAgain : arrange;

    /** Acts on the episode as it is now; once more when it changed at the same moment. */
    const attempt = async (id: string): Promise<Outcome> => {
      try {
        const episode = await findResource(pool, workspaceId, 'episodes', id);
        return await act(episode!);
      } catch (error) {
        if (refused(error, ['version_conflict'])) return attempt(id);
        if (refused(error, kept)) return 'kept';
        throw error;
      }
    };

    if (batch.reverts) await stopEncodings(batch.reverts);
    const concerns = ({ lifecycle_state: state, attributes }: EpisodeRow) =>
      state !== 'archived' &&
      attributes.current_production_id !== undefined &&
      (!batch.reverts || [batch.reverts, batchId].some((id) => id === attributes.batch_encoding_id));
    const episodes = (await listLinked(pool, workspaceId, 'episodes', 'podcast', batch.podcast_id)).filter(concerns);
    const counts: Counts = { total: episodes.length, done: 0, failed: 0 };
    const open = new Set<string>();
    let toldAt = 0;
    const tell = async () => {
      if (performance.now() - toldAt < paceMs) return;
      toldAt = performance.now();
      await report('advance', counts);
    };
    /** Whether this try ends here. What was started while somebody cancelled is stopped as well. */
    const ends = async (): Promise<boolean> => {
      const now = await findResource(pool, workspaceId, 'batch_encodings', batchId);
      if (now?.lifecycle_state === 'cancelled' && open.size > 0) await stopEncodings(batchId);
      return signal.aborted || now?.lifecycle_state === 'cancelled';
    };

    for (const { id } of episodes) {
      if (await ends()) return;
      await tell();
      const outcome = await attempt(id);
      if (outcome === 'done') counts.done += 1;
      else if (outcome === 'kept') counts.failed += 1;
      else if (outcome === 'left') counts.total -= 1;
      else open.add(outcome.encodes);
    }

    // Encoders work on what was started; this job only watches.
    for (;;) {
      if (await ends()) return;
      for (const id of open) {
        const production = await findResource(pool, workspaceId, 'productions', id);
        if (production?.lifecycle_state === 'encoding') continue;
        open.delete(id);
        counts[production?.lifecycle_state === 'encoded' ? 'done' : 'failed'] += 1;
      }
      if (open.size === 0) break;
      await tell();
      await sleep(paceMs, signal);
    }
    if (await ends()) return;
    await report('complete', counts);
  };
}
