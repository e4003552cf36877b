import type { productCatalog, ResourceType } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { requireResources } from '../../workspace/require-resources.ts';

type ServingHaltRules = Pick<Rules<typeof productCatalog>, 'serving.halt'>;

/** Rules of the serving halt commands. */
export const servingHaltRules: ServingHaltRules = {
  'serving.halt': async ({ tx, workspaceId, changes }) => {
    const { scope } = changes;
    const require = (type: ResourceType, field: string, id: string) =>
      requireResources(tx, { workspaceId, type, ids: [id], path: `/changes/scope/${field}` });
    if (scope.kind === 'show') await require('podcasts', 'podcast_id', scope.podcast_id);
    if (scope.kind === 'line_item') await require('line_items', 'line_item_id', scope.line_item_id);
    if (scope.kind === 'creative') await require('creatives', 'creative_id', scope.creative_id);
    return { attributes: changes };
  },
};
