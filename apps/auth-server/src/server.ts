import { executeEnvelope, type ExecuteCommand } from '@longwave/command-pipeline';
import { isId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcContext, type RpcHandlers, type RpcService } from '@longwave/rpc';
import { CommandServiceService, type ExecuteRequest, type ExecuteResponse } from '@longwave/rpc/command';
import { CredentialServiceService } from '@longwave/rpc/credential';

const executeFor =
  (execute: ExecuteCommand) =>
  async (request: ExecuteRequest, { caller }: RpcContext): Promise<ExecuteResponse> => {
    if (!isId(request.workspaceId, 'ws'))
      throw new Problem('validation_failed', 'workspace_id: expected an id ws_…; a new account brings a new one.');
    return executeEnvelope(execute, request, { kind: 'service', name: caller });
  };

/** Which service may call what: the gateway verifies credentials, the operator sends identity commands. */
export const authServices = (
  execute: ExecuteCommand,
  verify: RpcHandlers<typeof CredentialServiceService>['verify'],
): RpcService[] => [
  rpcService(CredentialServiceService, { verify: ['rest-gateway'] }, { verify: verify }),
  rpcService(CommandServiceService, { execute: ['operator'] }, { execute: executeFor(execute) }),
];
