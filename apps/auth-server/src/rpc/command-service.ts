import { executeEnvelope, type ExecuteCommand } from '@longwave/command-pipeline';
import { rpcService, type RpcService } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import { requireWorkspace } from './require-workspace.ts';

/** Identity commands of the operator. */
export function commandService({ execute }: { readonly execute: ExecuteCommand }): RpcService {
  return rpcService(
    CommandServiceService,
    { execute: ['operator'] },
    {
      execute: async (request, { caller, deadline }) => {
        requireWorkspace(request.workspaceId);
        return executeEnvelope(execute, request, { kind: 'service', name: caller }, deadline);
      },
    },
  );
}
