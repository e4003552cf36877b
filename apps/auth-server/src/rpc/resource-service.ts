import type { ResourceReader } from '@longwave/command-pipeline';
import { rpcService, type RpcService } from '@longwave/rpc';
import { ResourceServiceService } from '@longwave/rpc/resource';

/** Identity resources, read by the operator: in one workspace or everywhere. */
export function resourceService({ reader }: { readonly reader: ResourceReader }): RpcService {
  return rpcService(
    ResourceServiceService,
    { getResource: ['operator'], listResources: ['operator'] },
    {
      getResource: async ({ workspaceId, resourceType, resourceId }) => {
        const resource = await reader.getResource(workspaceId || undefined, resourceType, resourceId);
        return { resourceJson: JSON.stringify(resource), podcastId: '' };
      },
      listResources: async ({ workspaceId, resourceType, links, lifecycleStates, limit, cursor }) => {
        const { resources, nextCursor } = await reader.listResources({
          scopes: workspaceId === '' ? 'everywhere' : [{ workspaceId }],
          resourceType,
          links,
          lifecycleStates,
          ...(limit > 0 && { limit }),
          ...(cursor && { cursor }),
        });
        return { resourcesJson: resources.map((resource) => JSON.stringify(resource)), nextCursor: nextCursor ?? '' };
      },
    },
  );
}
