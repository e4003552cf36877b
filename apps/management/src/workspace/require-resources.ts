import type { ResourceType } from '@longwave/command-catalog';
import { listByIds, type ResourceRow } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';

/**
 * The resources of a type that a command names beside its links. Throws `link_not_found` for those that are not in the workspace or have
 * ended.
 * @param path JSON Pointer of the field that names them
 */
export async function requireResources<T extends ResourceType>(
  tx: Transaction,
  required: {
    readonly workspaceId: string;
    readonly type: T;
    readonly ids: readonly string[];
    readonly path: string;
    /** States in which a resource cannot be used; default: archived. */
    readonly unless?: readonly string[];
  },
): Promise<ResourceRow<T>[]> {
  const { workspaceId, type, ids, path, unless = ['archived'] } = required;
  const rows = (await listByIds(tx, workspaceId, type, ids)).filter(
    ({ lifecycle_state: state }) => !unless.includes(state),
  );
  const found = new Set(rows.map(({ id }) => id));
  const errors = ids
    .filter((id) => !found.has(id))
    .map((id) => ({
      path,
      code: 'link_not_found',
      detail: `There is no ${type.replaceAll('_', ' ')} resource ${id} that can be used here.`,
    }));
  if (errors.length > 0) throw new Problem('link_not_found', errors[0]!.detail, { errors });
  return rows;
}
