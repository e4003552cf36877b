import { isLegalText, type Catalog, type ResourceDefinition } from '@longwave/command-catalog';
import { findWithParents, listParents, type ParentRow, type ResourceRow } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';

/** Types to which other resources belong. */
const parentTypes = ['podcasts', 'episodes'] as const;
type ParentType = (typeof parentTypes)[number];

interface Parent {
  readonly type: ParentType;
  readonly id: string;
}

/** The parents of a resource. */
export interface Lineage {
  /** The podcast that it belongs to, or is; undefined for what belongs to none. */
  readonly podcastId: string | undefined;
  /** The parent that has ended for good, if one has: its children have ended with it. */
  readonly ended: Parent | undefined;
}

/** A resource with its parents. */
export interface ResourceWithLineage extends Lineage {
  readonly row: ResourceRow;
}

/** The attributes by which resources of a type name their parents. */
export const parentAttributes = (catalog: Catalog, type: string): readonly string[] => {
  const definition: ResourceDefinition | undefined = Object.hasOwn(catalog.resources, type)
    ? catalog.resources[type]
    : undefined;
  return Object.values(definition?.links ?? {}).flatMap((link) => (isParentType(link.type) ? [link.attribute] : []));
};

/**
 * Finds a resource of a workspace, or of any, with its parents in one query; ignores parents in other workspaces. Undefined when there is
 * no such resource. The caller checks that the resource may be seen.
 */
export async function findWithLineage(
  pool: Pool,
  catalog: Catalog,
  workspaceId: string | undefined,
  type: string,
  id: string,
): Promise<ResourceWithLineage | undefined> {
  const found = await findWithParents(pool, workspaceId, { type, id }, parentTypes);
  if (!found) return undefined;
  const { row, parents } = found;
  return { row, ...(type === 'podcasts' ? { podcastId: id, ended: undefined } : lineageIn(catalog, parents)) };
}

/** Finds the parents of the resource that these changes create, in at most one query. */
export async function lineageOfNew(
  pool: Pool,
  catalog: Catalog,
  workspaceId: string,
  type: string,
  changes: unknown,
): Promise<Lineage> {
  const ids = parentAttributes(catalog, type).flatMap((attribute) => textAt(changes, attribute));
  return lineageIn(catalog, ids.length === 0 ? [] : await listParents(pool, workspaceId, { ids, types: parentTypes }));
}

function lineageIn(catalog: Catalog, rows: readonly ParentRow[]): Lineage {
  const parents = rows.flatMap(parentsIn);
  return {
    podcastId: parents.find((parent) => parent.type === 'podcasts')?.id,
    ended: parents.find((parent) => catalog.resources[parent.type]!.terminalStates.includes(parent.state)),
  };
}

function parentsIn(row: ParentRow): (Parent & { readonly state: string })[] {
  const parent = { type: row.resource_type as ParentType, id: row.id, state: row.lifecycle_state };
  if (row.podcast_id === null || row.podcast_state === null) return [parent];
  return [parent, { type: 'podcasts', id: row.podcast_id, state: row.podcast_state }];
}

const isParentType = (type: string): type is ParentType => (parentTypes as readonly string[]).includes(type);

function textAt(changes: unknown, attribute: string): string[] {
  const value: unknown =
    typeof changes === 'object' && changes !== null && Object.hasOwn(changes, attribute)
      ? (changes as Readonly<Record<string, unknown>>)[attribute]
      : undefined;
  return typeof value === 'string' && isLegalText(value) ? [value] : [];
}
