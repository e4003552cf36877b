import type { productCatalog } from '@longwave/command-catalog';
import { findResource, type Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { lockWorkspaceId } from './workspace-table.ts';

/** Rules of the workspace commands. */
export const workspaceRules: Pick<Rules<typeof productCatalog>, 'workspace.provision'> = {
  'workspace.provision': async ({ tx, workspaceId, changes }) => {
    await lockWorkspaceId(tx, workspaceId);
    if (await findResource(tx, workspaceId, 'workspaces', workspaceId))
      throw new Problem('value_taken', 'The account has its workspace already.');
    return { attributes: { currency: 'EUR', time_zone: 'UTC', ...changes } };
  },
};
