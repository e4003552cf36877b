import type { ActorOfCall, ResourceReader } from '@longwave/command-pipeline';
import { listSorts } from '@longwave/events';
import { parseOrProblem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { ResourceServiceService } from '@longwave/rpc/resource';
import { z } from 'zod';
import type { Access } from '../workspace/access/access.ts';
import { shownTo } from '../workspace/access/shown-to.ts';
import { namedWorkspace, readers } from './request-fields.ts';

/** Resources, as far as the actor sees them. */
export function resourceService({
  actorOf,
  access,
  reader,
}: {
  readonly actorOf: ActorOfCall;
  readonly access: Access;
  readonly reader: ResourceReader;
}): RpcService {
  return rpcService(
    ResourceServiceService,
    { getResource: readers, listResources: readers },
    {
      getResource: async ({ workspaceId, resourceType, resourceId }, context) => {
        const actor = await actorOf(context);
        const { resource, podcastId = '' } = await access.getVisible(
          actor,
          namedWorkspace(workspaceId),
          resourceType,
          resourceId,
        );
        return { resourceJson: JSON.stringify(shownTo(actor).resource(resource)), podcastId };
      },
      listResources: async (request, context) => {
        const actor = await actorOf(context);
        const { resources, nextCursor } = await reader.listResources({
          scopes: await access.scopes(actor, namedWorkspace(request.workspaceId), request.resourceType, request.links),
          resourceType: request.resourceType,
          links: request.links,
          lifecycleStates: request.lifecycleStates,
          ...(request.sort !== undefined && { sort: parseOrProblem(z.enum(listSorts), request.sort) }),
          ...(request.updatedSinceMs !== undefined && { updatedSince: new Date(Number(request.updatedSinceMs)) }),
          ...(request.titleContains !== undefined && { titleContains: request.titleContains }),
          ...(request.limit > 0 && { limit: request.limit }),
          ...(request.cursor && { cursor: request.cursor }),
        });
        const shown = shownTo(actor);
        return {
          resourcesJson: resources.map((resource) => JSON.stringify(shown.resource(resource))),
          nextCursor: nextCursor ?? '',
        };
      },
    },
  );
}
