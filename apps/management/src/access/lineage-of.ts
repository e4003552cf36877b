import type { Catalog, ResourceDefinition } from '@longwave/command-catalog';
import { listParents, type ParentRow } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';

/** Types that others belong to. */
const parentTypes = ['podcasts', 'episodes'] as const;
type ParentType = (typeof parentTypes)[number];

interface Parent {
  readonly type: ParentType;
  readonly id: string;
}

/** What a resource hangs on. */
export interface Lineage {
  /** The podcast that it belongs to, or is; undefined for what belongs to none. */
  readonly podcastId: string | undefined;
  /** The podcast or episode above it that has ended for good: whatever hangs on it is gone with it. */
  readonly ended: Parent | undefined;
}

/**
 * Where something in a workspace belongs, in at most one query. A parent in another workspace is none.
 * @param subject a resource by its id, or the changes that create one
 */
export async function lineageOf(
  pool: Pool,
  catalog: Catalog,
  workspaceId: string,
  type: string,
  subject: { readonly id: string } | { readonly changes: unknown },
): Promise<Lineage> {
  const id = 'id' in subject ? subject.id : undefined;
  if (type === 'podcasts') return { podcastId: id, ended: undefined };
  const definition: ResourceDefinition | undefined = Object.hasOwn(catalog.resources, type)
    ? catalog.resources[type]
    : undefined;
  const leading = Object.values(definition?.links ?? {}).filter((link) => isParentType(link.type));
  if (leading.length === 0) return { podcastId: undefined, ended: undefined };
  const named = 'changes' in subject ? leading.flatMap((link) => textAt(subject.changes, link.attribute)) : [];
  const parents = (await listParents(pool, workspaceId, { id, named, types: parentTypes })).flatMap(parentsIn);
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
  return typeof value === 'string' ? [value] : [];
}
