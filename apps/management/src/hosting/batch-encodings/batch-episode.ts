import type { ChangesInput, Resource, SubjectOf } from '@longwave/command-catalog';
import { findResource, findRevisionBefore, listLinked, type ResourceRow } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { isProblem, type ProblemCode } from '@longwave/problems';
import type { ManagementCommand, OwnCommand } from '../../background/execute-as-management.ts';
import type { LeaseReport } from '../../background/job-table.ts';
import { partsOf, type BatchEncoding } from './batch-encoding.ts';

/** One attempt at a batch encoding. */
export interface BatchAttempt {
  readonly pool: Pool;
  readonly workspaceId: string;
  readonly batchId: string;
  readonly batch: BatchEncoding;
  readonly send: <C extends OwnCommand>(
    idempotencyKey: string,
    command: ManagementCommand<C>,
    reason?: LeaseReport,
  ) => Promise<Resource<SubjectOf<C>>>;
}

/**
 * The outcome for one episode: `failed` keeps what it had, because it could not be changed; `superseded` is looked after by something
 * newer; otherwise the production that encodes it.
 */
type EpisodeOutcome = 'done' | 'failed' | 'superseded' | { readonly productionId: string };

type EpisodeRow = ResourceRow<'episodes'>;

/** Problems that leave one episode as it was; any other ends this attempt at the job. */
const skippableProblems: readonly ProblemCode[] = [
  'state_not_allowed',
  'not_found',
  'upload_not_received',
  'validation_failed',
  'media_not_fetchable',
  'encoding_time_exhausted',
  'episode_has_no_audio',
  'idempotency_conflict',
];

/** Changes the episode as its batch asks; again when it changed at the same moment. Throws what is no fault of the episode. */
export async function updateEpisode(attempt: BatchAttempt, episodeId: string): Promise<EpisodeOutcome> {
  const { pool, workspaceId, batch } = attempt;
  try {
    const episode = (await findResource(pool, workspaceId, 'episodes', episodeId))!;
    if (batch.reverts) return await restore(attempt, episode, batch.reverts);
    return await (partsOf(batch.initiator).length === 0 ? encodeAgain(attempt, episode) : arrange(attempt, episode));
  } catch (error) {
    if (isProblem(error, 'version_conflict')) return updateEpisode(attempt, episodeId);
    if (isProblem(error, ...skippableProblems)) return 'failed';
    throw error;
  }
}

const applyTemplate = (
  { send, batchId }: BatchAttempt,
  episode: { readonly id: string; readonly version?: number },
  changes: Omit<ChangesInput<'episode.apply_template'>, 'batch_encoding_id'>,
) =>
  send(`${batchId}:${episode.id}`, {
    type: 'episode.apply_template',
    ...episode,
    changes: { batch_encoding_id: batchId, ...changes },
  });

/** Sets the parts that the batch remembers, and removes those that the podcast no longer has. */
async function arrange(attempt: BatchAttempt, { id }: EpisodeRow): Promise<EpisodeOutcome> {
  const { batch } = attempt;
  await applyTemplate(
    attempt,
    { id },
    Object.fromEntries(partsOf(batch.initiator).map((part) => [part, batch[part] ?? null])),
  );
  return 'done';
}

/** Gives the episode back what it had before the batch that is reverted, in one command. */
async function restore(attempt: BatchAttempt, row: EpisodeRow, revertedId: string): Promise<EpisodeOutcome> {
  const { id, version, attributes: episode } = row;
  if (episode.batch_encoding_id === attempt.batchId) return 'done';
  if (episode.batch_encoding_id !== revertedId) return 'superseded';
  const before = await findRevisionBefore(attempt.pool, row, 'batch_encoding_id', revertedId);
  if (!before) return 'superseded';
  const { intro = null, outro = null, current_production_id: productionId } = before;
  const isOther = productionId !== undefined && productionId !== episode.current_production_id;
  await applyTemplate(attempt, { id, version }, { intro, outro, ...(isOther && { production_id: productionId }) });
  return 'done';
}

/** Encodes the episode's present source again, unless new audio was attached or is being encoded. */
async function encodeAgain(attempt: BatchAttempt, { id, attributes }: EpisodeRow): Promise<EpisodeOutcome> {
  const { pool, workspaceId, batchId, send } = attempt;
  const productions = await listLinked(pool, workspaceId, 'productions', 'episode', id);
  const current = productions.find((production) => production.id === attributes.current_production_id)!;
  const fileUrl = current.attributes.file_url;
  const derived = productions.find((production) => production.attributes.batch_encoding_id === batchId);
  if (derived && derived.lifecycle_state !== 'initial') return { productionId: derived.id };
  if (derived && derived.attributes.file_url !== fileUrl) return 'superseded';
  if (fileUrl === undefined) return 'failed';
  const isNewAudio = (production: ResourceRow<'productions'>) =>
    production.id > current.id &&
    production.lifecycle_state === 'encoding' &&
    production.attributes.batch_encoding_id === undefined;
  if (productions.some(isNewAudio)) return 'superseded';
  const changes = { episode_id: id, file_url: fileUrl, batch_encoding_id: batchId };
  const { id: productionId } =
    derived ?? (await send(`${batchId}:${id}:derive`, { type: 'production.derive', id: null, changes }));
  await send(`${batchId}:${id}:start`, { type: 'production.start', id: productionId, changes: {} });
  return { productionId };
}
