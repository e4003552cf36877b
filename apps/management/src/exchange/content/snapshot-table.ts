import type { ResourceRow } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';

type Queryable = Pick<Pool, 'query'> | Transaction;
type SnapshotRow = ResourceRow<'content_snapshots'>;
type Show = SnapshotRow['attributes']['content']['show'];

/** Something of a platform that its messages are about. */
export interface Subject {
  readonly workspaceId: string;
  readonly authorityId: string;
  readonly sourceId: string;
}

/** Every read here costs the same after a million versions of one subject as after one: each is a lookup in an index of its own. */
const columns =
  'id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at';
const ofSubject = `resource_type = 'content_snapshots' and workspace_id = $1
             and attributes ->> 'authority_id' = $2 and attributes ->> 'source_id' = $3`;
const sourceVersion = `(attributes ->> 'source_version')::bigint`;
/** States that end by themselves or by a newer version; the words are those of the index. */
export const living = `lifecycle_state in ('received', 'encoding', 'ready', 'failed', 'lapsed')`;

const valuesOf = ({ workspaceId, authorityId, sourceId }: Subject) => [workspaceId, authorityId, sourceId];

/** The newest version of a subject, whatever its state. */
export async function findNewestVersion(db: Queryable, subject: Subject): Promise<SnapshotRow | undefined> {
  const { rows } = await db.query<SnapshotRow>({
    name: 'find_newest_snapshot',
    text: `select ${columns} from resource where ${ofSubject} order by ${sourceVersion} desc limit 1`,
    values: valuesOf(subject),
  });
  return rows[0];
}

/** The newest version of a subject that is older than this one, whatever its state. */
export async function findVersionBefore(
  db: Queryable,
  subject: Subject,
  version: number,
): Promise<SnapshotRow | undefined> {
  const { rows } = await db.query<SnapshotRow>({
    name: 'find_snapshot_before',
    text: `select ${columns} from resource where ${ofSubject} and ${sourceVersion} < $4
           order by ${sourceVersion} desc limit 1`,
    values: [...valuesOf(subject), version],
  });
  return rows[0];
}

/** One version of a subject. */
export async function findVersion(db: Queryable, subject: Subject, version: number): Promise<SnapshotRow | undefined> {
  const { rows } = await db.query<SnapshotRow>({
    name: 'find_snapshot_version',
    text: `select ${columns} from resource where ${ofSubject} and ${sourceVersion} = $4 limit 1`,
    values: [...valuesOf(subject), version],
  });
  return rows[0];
}

/** The versions of a subject that are older than this one and in one of the states. Few are: a newer version ends them. */
export async function listOlderVersions(
  db: Queryable,
  subject: Subject,
  version: number,
  states: readonly SnapshotRow['lifecycle_state'][],
): Promise<SnapshotRow[]> {
  const { rows } = await db.query<SnapshotRow>({
    name: 'list_older_snapshots',
    text: `select ${columns} from resource
           where ${ofSubject} and ${living} and lifecycle_state = any($5) and ${sourceVersion} < $4
           order by ${sourceVersion}`,
    values: [...valuesOf(subject), version, states],
  });
  return rows;
}

/** A version of a subject that has an episode; every one that has any has the same. */
export async function findMappedVersion(db: Queryable, subject: Subject): Promise<SnapshotRow | undefined> {
  const { rows } = await db.query<SnapshotRow>({
    name: 'find_mapped_snapshot',
    text: `select ${columns} from resource where ${ofSubject} and attributes ? 'episode_id' limit 1`,
    values: valuesOf(subject),
  });
  return rows[0];
}

/** The platform's id of the subject that has an episode: all versions with one episode are of one subject. Undefined while none has it. */
export async function findSourceOfEpisode(
  db: Queryable,
  workspaceId: string,
  episodeId: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ source_id: string }>({
    name: 'find_source_of_episode',
    text: `select attributes ->> 'source_id' as source_id from resource
           where resource_type = 'content_snapshots' and workspace_id = $1
             and attributes ? 'episode_id' and attributes ->> 'episode_id' = $2 limit 1`,
    values: [workspaceId, episodeId],
  });
  return rows[0]?.source_id;
}

/** The versions that wait for an encoding. */
export async function listWaitingFor(db: Queryable, workspaceId: string, productionId: string): Promise<SnapshotRow[]> {
  const { rows } = await db.query<SnapshotRow>({
    name: 'list_waiting_snapshots',
    text: `select ${columns} from resource
           where resource_type = 'content_snapshots' and lifecycle_state = 'encoding' and workspace_id = $1
             and attributes ->> 'production_id' = $2
           order by created_at, id`,
    values: [workspaceId, productionId],
  });
  return rows;
}

/** Whether a version of a subject is taken back, also one that was not sent yet. */
export async function isRevoked(db: Queryable, subject: Subject, version: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'find_revocation_of_version',
    text: `select from resource
           where resource_type = 'content_revocations' and workspace_id = $1
             and attributes ->> 'authority_id' = $2 and attributes ->> 'source_id' = $3
             and (attributes #>> '{revocation,revoke_version}')::bigint = $4 limit 1`,
    values: [...valuesOf(subject), version],
  });
  return rowCount === 1;
}

/** The show of a stream, as its newest version says that names one; undefined when none does. */
export async function findShow(
  db: Queryable,
  workspaceId: string,
  authorityId: string,
  streamId: string,
): Promise<Show> {
  const { rows } = await db.query<{ readonly show: NonNullable<Show> }>({
    name: 'find_show',
    text: `select attributes #> '{content,show}' as show from resource
           where resource_type = 'content_snapshots' and workspace_id = $1
             and attributes ->> 'authority_id' = $2 and attributes ->> 'stream_id' = $3
             and attributes #>> '{content,show,title}' is not null
           order by (attributes ->> 'sequence')::bigint desc limit 1`,
    values: [workspaceId, authorityId, streamId],
  });
  return rows[0]?.show;
}
