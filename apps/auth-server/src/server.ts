import { executeEnvelope, type ExecuteCommand, type ResourceReader } from '@longwave/command-pipeline';
import { isId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcContext, type RpcHandlers, type RpcService } from '@longwave/rpc';
import { CommandServiceService, type ExecuteRequest, type ExecuteResponse } from '@longwave/rpc/command';
import { CredentialServiceService } from '@longwave/rpc/credential';
import { ResourceServiceService } from '@longwave/rpc/resource';

const executeFor =
  (execute: ExecuteCommand) =>
  async (request: ExecuteRequest, { caller, deadline }: RpcContext): Promise<ExecuteResponse> => {
    if (!isId(request.workspaceId, 'ws'))
      throw new Problem('validation_failed', 'workspace_id: expected an id ws_…; a new account brings a new one.');
    return executeEnvelope(execute, request, { kind: 'service', name: caller }, deadline);
  };

/** Which service may call what: the gateway verifies credentials, the operator sends identity commands and reads what became of them. */
export const authServices = (
  execute: ExecuteCommand,
  reader: ResourceReader,
  verify: RpcHandlers<typeof CredentialServiceService>['verify'],
): RpcService[] => [
  rpcService(CredentialServiceService, { verify: ['rest-gateway'] }, { verify: verify }),
  rpcService(CommandServiceService, { execute: ['operator'] }, { execute: executeFor(execute) }),
  rpcService(
    ResourceServiceService,
    { getResource: ['operator'], listResources: ['operator'], listVersions: ['operator'] },
    {
      getResource: async ({ workspaceId, resourceType, resourceId }) => {
        const resource = await reader.getResource(workspaceId || undefined, resourceType, resourceId);
        return { resourceJson: JSON.stringify(resource), podcastId: '' };
      },
      listResources: async ({ workspaceId, resourceType, links, lifecycleStates, limit, cursor }) => {
        const { resources, nextCursor } = await reader.listResources({
          places: workspaceId === '' ? 'everywhere' : [{ workspaceId }],
          resourceType,
          links,
          lifecycleStates,
          ...(limit > 0 && { limit }),
          ...(cursor && { cursor }),
        });
        return { resourcesJson: resources.map((resource) => JSON.stringify(resource)), nextCursor: nextCursor ?? '' };
      },
      listVersions: async ({ workspaceId, resourceType, resourceId }) => ({
        versionsJson: (await reader.listVersions(workspaceId, resourceType, resourceId)).map((version) =>
          JSON.stringify(version),
        ),
      }),
    },
  ),
];
