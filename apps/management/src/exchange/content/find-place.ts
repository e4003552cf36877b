import { createHash } from 'node:crypto';
import { findResource, type ExecuteCommand, type ResourceRow } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { isProblem, Problem } from '@longwave/problems';
import {
  executeAsManagement,
  type ManagementCommand,
  type OwnCommand,
} from '../../background/execute-as-management.ts';
import { findEpisodeOfGuid, findHostedPodcast } from '../subject-table.ts';
import { findMappedVersion, findShow, findSourceOfEpisode } from './snapshot-table.ts';
import { subjectOfSnapshot, type Snapshot } from './snapshot.ts';

interface PlaceDeps {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly workspaceId: string;
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * The id of what `find` finds, else of what the command makes. Several versions may be taken over at once: whoever comes second finds what
 * the first has made, also when it would have made it otherwise.
 */
async function findOrMake<C extends OwnCommand>(
  { execute, workspaceId }: PlaceDeps,
  idempotencyKey: string,
  find: () => Promise<string | undefined>,
  command: ManagementCommand<C>,
): Promise<string> {
  const found = await find();
  if (found !== undefined) return found;
  try {
    return (await executeAsManagement(execute, { workspaceId, idempotencyKey }, command)).id;
  } catch (error) {
    const other = isProblem(error, 'value_taken', 'idempotency_conflict') ? await find() : undefined;
    if (other === undefined) throw error;
    return other;
  }
}

/** The podcast of the stream of a version, made when it is the first. */
async function findPodcast(deps: PlaceDeps, snapshot: Snapshot): Promise<string> {
  const { pool, workspaceId } = deps;
  const { authority_id: authorityId, stream_id: streamId, content } = snapshot;
  const find = () => findHostedPodcast(pool, workspaceId, authorityId, streamId);
  return findOrMake(deps, `host:${digestOf(`${authorityId} ${streamId}`)}`, find, {
    type: 'podcast.host_elsewhere',
    id: null,
    changes: {
      title: content.show?.title ?? streamId,
      language: content.show?.language ?? content.episode.language,
      hosted_by: { authority_id: authorityId, stream_id: streamId },
    },
  });
}

/**
 * Gives a podcast the title and the language that the newest version of its stream names, in whatever order versions are taken over. The
 * podcast was read before them, so that newer ones are not overwritten: then `version_conflict` is thrown, and the version is tried again.
 */
async function takeShow(
  { pool, execute, workspaceId }: PlaceDeps,
  { id, version, attributes }: ResourceRow<'podcasts'>,
): Promise<void> {
  if (!attributes.hosted_by) return;
  const { authority_id: authorityId, stream_id: streamId } = attributes.hosted_by;
  const { title = attributes.title, language = attributes.language } =
    (await findShow(pool, workspaceId, authorityId, streamId)) ?? {};
  if (title === attributes.title && language === attributes.language) return;
  await executeAsManagement(
    execute,
    { workspaceId, idempotencyKey: `show:${id}:${version}:${digestOf(`${language} ${title}`)}` },
    { type: 'podcast.revise', id, version, changes: { title, language } },
  );
}

/**
 * The podcast and the episode of a version, made when they are not there. A subject keeps its episode, whatever its GUID becomes.
 * Throws `value_taken` when the GUID is that of another subject, `podcast_not_ready` when the podcast is archived.
 */
export async function findPlace(
  deps: PlaceDeps,
  snapshot: Snapshot,
): Promise<{ readonly podcastId: string; readonly episodeId: string }> {
  const { pool, workspaceId } = deps;
  const mapped = (await findMappedVersion(pool, subjectOfSnapshot(workspaceId, snapshot)))?.attributes;
  const podcastId = mapped?.podcast_id ?? (await findPodcast(deps, snapshot));
  const podcast = await findResource(pool, workspaceId, 'podcasts', podcastId);
  if (podcast?.lifecycle_state === 'archived')
    throw new Problem('podcast_not_ready', 'The podcast of this stream is archived here.');
  if (podcast) await takeShow(deps, podcast);
  if (mapped?.episode_id !== undefined) return { podcastId, episodeId: mapped.episode_id };
  const { guid, title_ref: title, explicit, published_at: publishedAt } = snapshot.content.episode;
  const episodeId = await findOrMake(
    deps,
    `episode:${podcastId}:${digestOf(guid)}`,
    () => findEpisodeOfGuid(pool, workspaceId, podcastId, guid),
    {
      type: 'episode.import',
      id: null,
      changes: { podcast_id: podcastId, guid, title, explicit, published_at: new Date(publishedAt).toISOString() },
    },
  );
  const sourceId = (await findSourceOfEpisode(pool, workspaceId, episodeId)) ?? snapshot.source_id;
  if (sourceId !== snapshot.source_id)
    throw new Problem('value_taken', 'Another episode of this stream has the same GUID.');
  return { podcastId, episodeId };
}
