import { productCatalog } from '@longwave/command-catalog';
import type { CheckRequester } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { findWithLineage, lineageOfNew } from '../access/lineage-of.ts';
import { listRoleHolders, personOf } from '../people/people-table.ts';
import { peopleWith } from '../people/role-holder.ts';

/**
 * Refuses an approved command whose requester holds none of its roles any more, where the command acts. It knows people as reviews count them
 * (docs/adr/0040), and decides nothing in a workspace whose account it has not seen.
 */
export function createCheckRequester(pool: Pool): CheckRequester {
  return async (tx, { definition, workspaceId, subjectId, changes, requestedBy, now }) => {
    const holders = await listRoleHolders(tx, workspaceId, now);
    if (!holders || definition.party) return;
    const { subject: type, roles } = definition;
    const { podcastId } =
      subjectId === null
        ? await lineageOfNew(pool, productCatalog, workspaceId, type, changes)
        : ((await findWithLineage(pool, productCatalog, workspaceId, type, subjectId)) ?? { podcastId: undefined });
    const permitted = peopleWith(holders, { roles, podcastId, except: [] });
    if (!permitted.has(await personOf(tx, requestedBy)))
      throw new Problem('permission_denied', `The person who requested ${definition.type} may no longer send it.`);
  };
}
