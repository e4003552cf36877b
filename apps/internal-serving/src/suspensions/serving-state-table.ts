import { noSuspensions, type Suspensions } from '@longwave/ad-decision';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** The scope of a halt, as in `serving_halts`. */
type HaltScope =
  | { readonly kind: 'workspace' }
  | { readonly kind: 'show'; readonly podcast_id: string }
  | { readonly kind: 'line_item'; readonly line_item_id: string }
  | { readonly kind: 'creative'; readonly creative_id: string }
  | { readonly kind: 'surface'; readonly surface: string };

/** Types of resources that can keep something from serving. */
export type StatefulType =
  'line_items' | 'campaigns' | 'advertisers' | 'creatives' | 'creative_assignments' | 'serving_halts' | 'workspaces';

/** A revision of such a resource, from its event. */
export interface StateRevision {
  readonly resourceId: string;
  readonly resourceType: StatefulType;
  readonly workspaceId: string;
  readonly version: number;
  readonly serves: boolean;
  /** The scope of a halt, "line item/creative" of an assignment, else the resource's own id. */
  readonly subject: HaltScope | string;
}

// The row of the workspace is locked until the commit, so revisions become visible in their order.
const applyText = `
  with changed as (
    insert into serving_state (resource_id, resource_type, workspace_id, version, serves, subject)
    select resource_id, resource_type, workspace_id, version, serves, subject
    from json_to_recordset($1) as given (resource_id text, resource_type text, workspace_id text, version int,
         serves boolean, subject jsonb)
    order by resource_id
    on conflict (resource_id) do update set version = excluded.version, serves = excluded.serves, subject = excluded.subject
    where serving_state.version < excluded.version
    returning workspace_id)
  insert into suspension_revision (workspace_id, revision)
  select distinct workspace_id, 1 from changed order by workspace_id
  on conflict (workspace_id) do update set revision = suspension_revision.revision + 1`;

/** Applies revisions by one statement; of several of one resource the newest, and none that is not newer than its row. */
export async function applyStates(pool: Pool, revisions: readonly StateRevision[]): Promise<void> {
  const newest = new Map<string, StateRevision>();
  for (const revision of revisions)
    if ((newest.get(revision.resourceId)?.version ?? 0) < revision.version) newest.set(revision.resourceId, revision);
  const newRows = [...newest.values()].map((one) => ({
    resource_id: one.resourceId,
    resource_type: one.resourceType,
    workspace_id: one.workspaceId,
    version: one.version,
    serves: one.serves,
    subject: one.subject,
  }));
  await pool.query(applyText, [JSON.stringify(newRows)]);
}

/** Revision of the states of each of these workspaces; unknown workspaces are absent. */
export async function listRevisions(pool: Pool, workspaceIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<Columns<'suspension_revision', 'workspace_id' | 'revision'>>(
    'select workspace_id, revision::text from suspension_revision where workspace_id = any ($1)',
    [workspaceIds],
  );
  return new Map(rows.map((row) => [row.workspace_id, row.revision]));
}

type Suspending = Pick<StateRevision, 'resourceType' | 'subject'>;

function suspensionsOf(rows: readonly Suspending[]): Suspensions {
  const ofType = (type: StatefulType) =>
    rows
      .filter((row) => row.resourceType === type)
      .map((row) => row.subject as string)
      .toSorted();
  const scopes = rows.flatMap((row) => (row.resourceType === 'serving_halts' ? [row.subject as HaltScope] : []));
  return {
    halts: {
      workspace: scopes.some((scope) => scope.kind === 'workspace') || ofType('workspaces').length > 0,
      podcast_ids: scopes.flatMap((scope) => (scope.kind === 'show' ? [scope.podcast_id] : [])),
      surfaces: scopes.flatMap((scope) => (scope.kind === 'surface' ? [scope.surface] : [])),
      line_item_ids: scopes.flatMap((scope) => (scope.kind === 'line_item' ? [scope.line_item_id] : [])),
      creative_ids: scopes.flatMap((scope) => (scope.kind === 'creative' ? [scope.creative_id] : [])),
    },
    not_active: {
      line_item_ids: ofType('line_items'),
      campaign_ids: ofType('campaigns'),
      advertiser_ids: ofType('advertisers'),
      creative_ids: ofType('creatives'),
      assignments: ofType('creative_assignments'),
    },
  };
}

/** Everything that may not serve in a workspace now. */
export async function getSuspensions(pool: Pool, workspaceId: string): Promise<Suspensions> {
  const { rows } = await pool.query<
    Columns<'serving_state', 'resource_type' | 'subject', { resource_type: StatefulType; subject: HaltScope | string }>
  >(
    // A creative may be assigned to a line item more than once: it serves while one of the assignments does.
    `select resource_type, subject from serving_state where workspace_id = $1 and not serves and subject not in (
       select subject from serving_state where workspace_id = $1 and serves and resource_type = 'creative_assignments')`,
    [workspaceId],
  );
  return suspensionsOf(rows.map((row) => ({ resourceType: row.resource_type, subject: row.subject })));
}

/** Keeps a set under its digest, for replays. */
export async function insertSuspensionSet(
  pool: Pool,
  workspaceId: string,
  digest: string,
  suspensions: Suspensions,
): Promise<void> {
  await pool.query(
    `insert into suspension_set (workspace_id, digest, suspensions) values ($1, $2, $3)
     on conflict (workspace_id, digest) do nothing`,
    [workspaceId, digest, JSON.stringify(suspensions)],
  );
}

/** A kept set; without a digest, none. Undefined when the set is missing. */
export async function findSuspensionSet(
  pool: Pool,
  workspaceId: string,
  digest: string | null,
): Promise<Suspensions | undefined> {
  if (digest === null) return noSuspensions;
  const { rows } = await pool.query<Columns<'suspension_set', 'suspensions', { suspensions: Suspensions }>>(
    'select suspensions from suspension_set where workspace_id = $1 and digest = $2',
    [workspaceId, digest],
  );
  return rows[0]?.suspensions;
}
