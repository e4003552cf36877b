import type { ExecuteCommand } from '@longwave/command-pipeline';
import { isId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcContext, type RpcHandlers, type RpcService } from '@longwave/rpc';
import { CommandServiceService, type ExecuteRequest, type ExecuteResponse } from '@longwave/rpc/command';
import { CredentialServiceService } from '@longwave/rpc/credential';

function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new Problem('malformed_json', 'changes_json and reason_json must be JSON.', { cause });
  }
}

const executeFor =
  (execute: ExecuteCommand) =>
  async (request: ExecuteRequest, { caller }: RpcContext): Promise<ExecuteResponse> => {
    if (!isId(request.workspaceId, 'ws'))
      throw new Problem('validation_failed', 'workspace_id: expected an id ws_…; a new account brings a new one.');
    const outcome = await execute(
      {
        workspaceId: request.workspaceId,
        commandType: request.commandType,
        idempotencyKey: request.idempotencyKey,
        ifMatch: request.ifMatch || undefined,
        subject: { type: request.subjectType, id: request.subjectId || null, version: request.subjectVersion },
        changes: parseJson(request.changesJson),
        reason: parseJson(request.reasonJson),
      },
      { kind: 'service', name: caller },
    );
    return {
      operationJson: outcome.operationJson,
      resourceJson: JSON.stringify(outcome.resource),
      status: outcome.status,
      replayed: outcome.replayed,
    };
  };

/** Which service may call what: the gateway verifies credentials, the operator sends identity commands. */
export const authServices = (
  execute: ExecuteCommand,
  verify: RpcHandlers<typeof CredentialServiceService>['verify'],
): RpcService[] => [
  rpcService(CredentialServiceService, { verify: ['rest-gateway'] }, { verify: verify }),
  rpcService(CommandServiceService, { execute: ['operator'] }, { execute: executeFor(execute) }),
];
