import type { Catalog, ResourceDefinition } from '@longwave/command-catalog';
import { findLink } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';

/** Links that lead from a resource to its podcast, in this order. */
const leading: readonly string[] = ['podcasts', 'episodes'];

/**
 * The podcast that a resource belongs to, or is; undefined for what belongs to none. `attributes` may be those of a resource, or the
 * changes that create one.
 */
export async function podcastOf(
  pool: Pool,
  catalog: Catalog,
  type: string,
  id: string | null,
  attributes: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  if (type === 'podcasts') return id ?? undefined;
  const definition: ResourceDefinition | undefined = Object.hasOwn(catalog.resources, type)
    ? catalog.resources[type]
    : undefined;
  for (const parent of leading)
    for (const link of Object.values(definition?.links ?? {})) {
      const target = link.type === parent ? attributes[link.attribute] : undefined;
      if (typeof target === 'string') return parent === 'podcasts' ? target : findLink(pool, target, 'podcast');
    }
  return undefined;
}
