import { executeEnvelope, type ActorOfCall, type ExecuteCommand } from '@longwave/command-pipeline';
import { rpcService, type RpcService } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import { gateways } from '@longwave/services';
import { requireWorkspace } from './require-workspace.ts';

/** Identity commands of the operator, and of people as far as the catalog gives them to their roles. */
export function commandService({
  actorOf,
  execute,
}: {
  readonly actorOf: ActorOfCall;
  readonly execute: ExecuteCommand;
}): RpcService {
  return rpcService(
    CommandServiceService,
    { execute: [...gateways, 'operator'] },
    {
      execute: async (request, context) => {
        requireWorkspace(request.workspaceId);
        return executeEnvelope(execute, request, await actorOf(context), context.deadline);
      },
    },
  );
}
