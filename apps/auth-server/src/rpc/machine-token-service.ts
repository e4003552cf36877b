import { rpcService, type RpcService } from '@longwave/rpc';
import { MachineTokenServiceService, type IssueRequest, type IssueResponse } from '@longwave/rpc/credential';
import { requireWorkspace } from './require-workspace.ts';

/** Access tokens of machine clients, issued by the operator. */
export function machineTokenService({
  issue,
}: {
  readonly issue: (request: IssueRequest, deadline: Date) => Promise<IssueResponse>;
}): RpcService {
  return rpcService(
    MachineTokenServiceService,
    { issue: ['operator'] },
    {
      issue: async (request, { deadline }) => {
        requireWorkspace(request.workspaceId);
        return issue(request, deadline);
      },
    },
  );
}
