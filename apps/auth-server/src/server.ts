import { executeEnvelope, type ExecuteCommand, type ResourceReader } from '@longwave/command-pipeline';
import { isId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcContext, type RpcHandlers, type RpcService } from '@longwave/rpc';
import { CommandServiceService, type ExecuteRequest, type ExecuteResponse } from '@longwave/rpc/command';
import {
  CredentialServiceService,
  MachineTokenServiceService,
  type IssueRequest,
  type IssueResponse,
} from '@longwave/rpc/credential';
import { ResourceServiceService } from '@longwave/rpc/resource';

function refuseNoWorkspace(workspaceId: string): void {
  if (!isId(workspaceId, 'ws'))
    throw new Problem('validation_failed', 'workspace_id: expected an id ws_…; a new account brings a new one.');
}

const executeFor =
  (execute: ExecuteCommand) =>
  async (request: ExecuteRequest, { caller, deadline }: RpcContext): Promise<ExecuteResponse> => {
    refuseNoWorkspace(request.workspaceId);
    return executeEnvelope(execute, request, { kind: 'service', name: caller }, deadline);
  };

/** Which service may call what: the gateway verifies credentials, the operator sends identity commands and reads what became of them. */
export const authServices = ({
  execute,
  reader,
  verify,
  issue,
}: {
  readonly execute: ExecuteCommand;
  readonly reader: ResourceReader;
  readonly verify: RpcHandlers<typeof CredentialServiceService>['verify'];
  readonly issue: (request: IssueRequest, deadline: Date) => Promise<IssueResponse>;
}): RpcService[] => [
  rpcService(CredentialServiceService, { verify: ['rest-gateway'] }, { verify: verify }),
  rpcService(CommandServiceService, { execute: ['operator'] }, { execute: executeFor(execute) }),
  rpcService(
    MachineTokenServiceService,
    { issue: ['operator'] },
    {
      issue: async (request, { deadline }) => {
        refuseNoWorkspace(request.workspaceId);
        return issue(request, deadline);
      },
    },
  ),
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
