import type { Catalog } from '@longwave/command-catalog';
import { jcsDigest } from '@longwave/idempotency';
import type { Pool } from '@longwave/postgres';
import { systemProcesses, type SystemProcess } from '../store/operation.ts';
import { definitionOf, notFoundProblem } from '../store/resource-row.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { diffVersions, type PatchStep } from './diff-attributes.ts';
import { boundedLimit, type ListOptions } from './list-resources.ts';
import { readRevisions, type RevisionRow } from './read-revisions.ts';

/** A version of a resource as every API shows it. */
export interface VersionView {
  readonly version: number;
  readonly lifecycle_state: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly updated_by: {
    readonly operation_id: string;
    /** The service that sent the command; absent when a person did. */
    readonly service?: string;
    /** The clock or a follower of events, where one of these sent it by itself. */
    readonly process?: SystemProcess;
  };
  readonly created_at: string;
  /** The way from the version before to this one, over `{lifecycle_state, attributes}`; absent unless asked for, and of the first version. */
  readonly difference?: readonly PatchStep[];
}

/** A resource whose history is read. */
export interface HistoryOf {
  readonly workspaceId: string;
  readonly resourceType: string;
  readonly id: string;
}

export interface VersionPage {
  readonly versions: readonly VersionView[];
  readonly nextCursor: string | undefined;
}

const isSystemProcess = (name: string | null): name is SystemProcess =>
  (systemProcesses as readonly (string | null)[]).includes(name);

const versionView = (row: RevisionRow): VersionView => ({
  version: row.version,
  lifecycle_state: row.lifecycle_state,
  attributes: row.attributes,
  digest: row.digest,
  updated_by: {
    operation_id: row.operation_id,
    ...(row.client_id?.startsWith('service:') && { service: row.client_id.slice('service:'.length) }),
    ...(isSystemProcess(row.requested_by) && { process: row.requested_by }),
  },
  created_at: row.created_at.toISOString(),
});

function viewAfter(row: RevisionRow, before: RevisionRow | undefined, withDifference: boolean): VersionView {
  const view = versionView(row);
  return withDifference && before ? { ...view, difference: diffVersions(before, row) } : view;
}

/** A page of the immutable history of a resource, newest first. Throws `not_found` or `invalid_cursor`. */
export async function listVersions(
  pool: Pool,
  { catalog, cursorKey, clock }: ListOptions,
  { workspaceId, resourceType, id }: HistoryOf,
  options: { readonly limit?: number; readonly cursor?: string; readonly withDifference?: boolean } = {},
): Promise<VersionPage> {
  const { limit, cursor, withDifference = false } = options;
  const definition = definitionOf(catalog, resourceType);
  const listing = jcsDigest({ versions: [workspaceId, resourceType, id] });
  const position = cursor === undefined ? undefined : openCursor(cursorKey, listing, cursor, clock());
  const take = boundedLimit(limit);
  const from = position && Number(position.sortValues[0]) - 1;
  // One more: it tells whether there is another page, and the last difference starts from it.
  const rows = await readRevisions(pool, { workspaceId, resourceType, id }, { from, limit: take + 1 });
  if (rows.length === 0 && !position) throw notFoundProblem(definition, id);
  const page = rows.slice(0, take);
  const last = page.at(-1);
  return {
    versions: page.map((row, i) => viewAfter(row, rows[i + 1], withDifference)),
    nextCursor:
      rows.length > take && last
        ? sealCursor(cursorKey, listing, { sortValues: [String(last.version)], id }, clock())
        : undefined,
  };
}

/** One version of a resource. Throws `not_found`. */
export async function readVersion(
  pool: Pool,
  catalog: Catalog,
  of: HistoryOf,
  version: number,
  { withDifference = false }: { readonly withDifference?: boolean } = {},
): Promise<VersionView> {
  const [row, before] = await readRevisions(pool, of, { from: version, limit: 2 });
  if (row?.version !== version) throw notFoundProblem(definitionOf(catalog, of.resourceType), of.id);
  return viewAfter(row, before, withDifference);
}
