import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';

/** Rules of the workspace commands. */
export const workspaceRules: Pick<Rules<typeof productCatalog>, 'workspace.provision'> = {
  'workspace.provision': ({ changes }) => ({ attributes: { ...changes, currency: 'EUR', time_zone: 'UTC' } }),
};
