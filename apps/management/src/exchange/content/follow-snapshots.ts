import type { EventOf } from '@longwave/command-catalog';
import { findResource, type ResourceRow } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Send } from '../../background/send-as-management.ts';
import { listOlderVersions, listWaitingFor } from './snapshot-table.ts';
import { areRightsOver, subjectOfSnapshot, type Snapshot } from './snapshot.ts';

interface Deps {
  readonly send: Send;
  readonly pool: Pool;
  readonly clock: () => Date;
}

type SnapshotRow = ResourceRow<'content_snapshots'>;
type Event = Pick<DomainEvent, 'id' | 'workspace_id'>;
type Failure = NonNullable<Snapshot['problem']>;

/** Supersedes the versions of a subject that are older than this one and in one of the states. */
async function supersedeOlder(
  event: Event,
  { source_version: version, ...subject }: Snapshot,
  states: readonly SnapshotRow['lifecycle_state'][],
  { send, pool }: Deps,
): Promise<void> {
  for (const { id } of await listOlderVersions(pool, subjectOfSnapshot(event.workspace_id, subject), version, states))
    await send(event, `supersede-${id}`, { type: 'content_snapshot.supersede', id, changes: {} });
}

/** A newer version replaces those that do not serve; the one that serves goes on until the newer one is ready. */
export const replaceWaiting = (event: EventOf<'content_snapshot.accepted'>, deps: Deps): Promise<void> =>
  supersedeOlder(event, event.after.attributes, ['received', 'encoding', 'failed'], deps);

const recordFailed = (event: Event, { id }: SnapshotRow, problem: Failure, { send }: Deps): Promise<void> =>
  send(event, `failed-${id}`, { type: 'content_snapshot.record_failed', id, changes: { problem } });

/** Why an encoded version was not put on its episode, if it will not be either later. */
async function hostingFault(
  { workspace_id: workspaceId, id, attributes }: SnapshotRow,
  episode: ResourceRow<'episodes'> | undefined,
  { pool, clock }: Deps,
): Promise<Failure | undefined> {
  const find = (each: string) => findResource(pool, workspaceId, 'content_snapshots', each);
  if ((await find(id))?.lifecycle_state !== 'encoding') return undefined;
  const serving = episode?.attributes.snapshot_id && (await find(episode.attributes.snapshot_id));
  // The later version supersedes this one.
  if (serving && serving.attributes.source_version > attributes.source_version) return undefined;
  if (areRightsOver(attributes, clock()))
    return { code: 'rights_over', detail: 'The time for which the platform grants its rights is over.' };
  if (episode?.lifecycle_state === 'archived')
    return { code: 'episode_archived', detail: 'The episode of this version is archived here.' };
  return { code: 'episode_has_no_audio', detail: 'The audio of this version is not there any more.' };
}

/** Puts an encoded version on its episode and, once it serves, ends the versions before. */
async function hostVersion(event: Event, snapshot: SnapshotRow, deps: Deps): Promise<void> {
  const { send, pool } = deps;
  const { workspace_id: workspaceId, id, attributes } = snapshot;
  const { episode_id: episodeId, production_id: productionId } = attributes;
  if (episodeId === undefined || productionId === undefined) return;
  const production = await findResource(pool, workspaceId, 'productions', productionId);
  const rendition = production?.attributes.files.find(({ role }) => role === 'rendition');
  if (production?.lifecycle_state !== 'encoded' || !rendition) return;
  await send(event, `host-${id}`, { type: 'episode.host_version', id: episodeId, changes: { snapshot_id: id } });
  const episode = await findResource(pool, workspaceId, 'episodes', episodeId);
  if (episode?.attributes.snapshot_id !== id) {
    const fault = await hostingFault(snapshot, episode, deps);
    if (fault) await recordFailed(event, snapshot, fault, deps);
    return;
  }
  await supersedeOlder(event, attributes, ['received', 'encoding', 'ready', 'failed', 'lapsed'], deps);
  await send(event, `ready-${id}`, {
    type: 'content_snapshot.record_ready',
    id,
    changes: {
      rendition: {
        format: rendition.format,
        sha256: rendition.sha256,
        size_bytes: rendition.size_bytes,
        duration_ms: production.attributes.audio_duration_ms!,
      },
      slots: episode.attributes.markers ?? [],
    },
  });
}

/** Puts a version on its episode whose audio was encoded before. */
export async function hostMapped(event: EventOf<'content_snapshot.mapped'>, deps: Deps): Promise<void> {
  const row = await findResource(deps.pool, event.workspace_id, 'content_snapshots', event.subject.id);
  if (row?.lifecycle_state === 'encoding') await hostVersion(event, row, deps);
}

/** The versions that wait for this encoding. */
const listWaiting = (pool: Pool, { workspace_id: workspaceId, subject }: DomainEvent): Promise<SnapshotRow[]> =>
  listWaitingFor(pool, workspaceId, subject.id);

/** Whether a production is the encoding of a version that another platform hosts. */
export const isOfPlatform = ({ after }: EventOf<'production.encoded'>): boolean =>
  after.attributes.declared !== undefined;

/** Puts the versions on their episodes whose audio is this. */
export async function hostEncoded(event: EventOf<'production.encoded'>, deps: Deps): Promise<void> {
  for (const row of await listWaiting(deps.pool, event)) await hostVersion(event, row, deps);
}

/** Records that the versions cannot serve whose encoding has failed, or was ended by somebody. */
export async function failWithEncoding(
  event: EventOf<'production.failed' | 'production.stopped' | 'production.deleted'>,
  deps: Deps,
): Promise<void> {
  const ended: Failure = { code: 'encoding_ended', detail: 'Somebody has ended its encoding.' };
  const problem = (event.type === 'production.failed' && event.after.attributes.problem) || ended;
  for (const row of await listWaiting(deps.pool, event)) await recordFailed(event, row, problem, deps);
}

/** Stops the encoding of a version that nobody waits for any more. */
export async function stopEncodingOf(
  event: EventOf<'content_snapshot.superseded' | 'content_snapshot.revoked'>,
  { send, pool }: Deps,
): Promise<void> {
  const { production_id: id } = event.after.attributes;
  if (id === undefined) return;
  const production = await findResource(pool, event.workspace_id, 'productions', id);
  if (production?.lifecycle_state === 'encoding')
    await send(event, 'stop', { type: 'production.stop', id, changes: {} });
}

/** Ends new plays of a version whose rights are over, unless another one serves meanwhile. */
export async function unpublishLapsed(event: EventOf<'content_snapshot.lapsed'>, { send, pool }: Deps): Promise<void> {
  const { episode_id: id } = event.after.attributes;
  const episode = id === undefined ? undefined : await findResource(pool, event.workspace_id, 'episodes', id);
  if (episode?.attributes.snapshot_id !== event.subject.id || episode.lifecycle_state !== 'published') return;
  await send(event, `unpublish-${episode.version}`, {
    type: 'episode.unpublish',
    id: episode.id,
    version: episode.version,
    changes: { mode: 'stop_new' },
  });
}
