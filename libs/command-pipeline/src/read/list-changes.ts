import type { Catalog } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { jcsDigest } from '@longwave/idempotency';
import type { Pool } from '@longwave/postgres';
import { resourceView } from '../store/resource-row.ts';
import {
  beforeChanges,
  findNewestChange,
  readChanges,
  type ChangeFilter,
  type ChangePlace,
  type ChangeRow,
} from './change-feed-table.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { boundedLimit, type ListOptions } from './list-resources.ts';

/** A change of a workspace as every API shows it. */
interface ChangeView {
  /** A reader that has seen this change goes on after it. */
  readonly cursor: string;
  readonly kind: 'revision' | 'notice';
  /** Type of the event: "campaign.activated". */
  readonly type: string;
  readonly subject: { readonly type: string; readonly id: string; readonly version?: number };
  readonly operation_id?: string;
  readonly occurred_at: string;
  /** The new revision; a notice has none. */
  readonly resource?: ResourceView;
  /** What a notice says. */
  readonly detail?: unknown;
}

export interface ChangesQuery extends ChangeFilter {
  /** A cursor of this workspace's changes; `now` is the place after the newest one. Default: the beginning. */
  readonly after?: string;
  /** Default 50; larger than 200 is cut to 200. */
  readonly limit?: number;
}

export interface ChangesPage {
  readonly changes: readonly ChangeView[];
  /** The place up to which the changes were read; the next page goes on there, now or at any later time. */
  readonly nextCursor: string;
  /** Whether another page may have something now. */
  readonly more: boolean;
}

/**
 * A page of a workspace's changes in the order of commits. A reader that goes on from each page's cursor gets every change that it may see
 * at least once. Throws `invalid_cursor`.
 */
export async function listChanges(pool: Pool, options: ListOptions, query: ChangesQuery): Promise<ChangesPage> {
  const { after, limit, ...filter } = query;
  const { workspaceId } = query.scope;
  const seal = sealedPlaces(options, workspaceId);
  if (after === 'now') {
    const place = await findNewestChange(pool, workspaceId);
    return { changes: [], nextCursor: seal.close(place), more: false };
  }
  const from = after === undefined ? beforeChanges : seal.open(after);
  const { rows, to, more } = await readChanges(pool, filter, { after: from, limit: boundedLimit(limit) });
  return {
    changes: rows.map((row) => changeView(options.catalog, workspaceId, row, seal.close(row))),
    nextCursor: seal.close(to),
    more,
  };
}

/** Places in a workspace's changes as cursors. They are good for ever: a client may have been away. */
function sealedPlaces({ cursorKey, clock }: ListOptions, workspaceId: string) {
  const listing = jcsDigest({ changes: workspaceId });
  return {
    close: ({ seq, position }: ChangePlace): string =>
      sealCursor(cursorKey, listing, { sortValues: [String(seq)], id: String(position) }, clock()),
    open: (cursor: string): ChangePlace => {
      const { sortValues, id } = openCursor(cursorKey, listing, cursor, clock(), Infinity);
      return { seq: Number(sortValues[0]), position: Number(id) };
    },
  };
}

function changeView({ resources }: Catalog, workspaceId: string, row: ChangeRow, cursor: string): ChangeView {
  const resource = revisionView(resources, workspaceId, row);
  return {
    cursor,
    kind: row.kind === 'notice' ? 'notice' : 'revision',
    type: row.event_type,
    subject: { type: row.resource_type, id: row.resource_id, ...(row.version !== null && { version: row.version }) },
    ...(row.operation_id !== null && { operation_id: row.operation_id }),
    occurred_at: row.occurred_at.toISOString(),
    ...(resource && { resource }),
    ...(row.detail !== null && { detail: row.detail }),
  };
}

function revisionView(resources: Catalog['resources'], workspaceId: string, row: ChangeRow): ResourceView | undefined {
  const definition = Object.hasOwn(resources, row.resource_type) ? resources[row.resource_type] : undefined;
  const { version, lifecycle_state: state, attributes, digest, created_at: createdAt, updated_at: updatedAt } = row;
  if (!definition || version === null || state === null || attributes === null || digest === null) return undefined;
  if (createdAt === null || updatedAt === null) return undefined;
  return resourceView(definition, {
    ...{ id: row.resource_id, workspace_id: workspaceId, resource_type: row.resource_type },
    ...{ version, lifecycle_state: state, attributes, digest, operation_id: row.operation_id ?? '' },
    ...{ created_at: createdAt, updated_at: updatedAt },
  });
}
