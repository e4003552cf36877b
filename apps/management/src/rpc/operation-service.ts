import { type ActorOfCall, notFoundProblem, type ResourceReader } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { OperationServiceService } from '@longwave/rpc/resource';
import { checkNamed, type Access } from '../workspace/access/access.ts';
import { namedWorkspace, readers } from './request-fields.ts';

/** Operations; an actor that sees the subject sees the operation. */
export function operationService({
  actorOf,
  access,
  reader,
}: {
  readonly actorOf: ActorOfCall;
  readonly access: Access;
  readonly reader: ResourceReader;
}): RpcService {
  return rpcService(
    OperationServiceService,
    { getOperation: [...readers, 'hosting-exchange'] },
    {
      getOperation: async ({ workspaceId, operationId }, context) => {
        const actor = await actorOf(context);
        checkNamed(actor, namedWorkspace(workspaceId));
        const operation = await reader.getOperation(namedWorkspace(workspaceId), operationId);
        await access.checkOperationSubject(actor, operation.workspace_id, operation.subject).catch((cause: unknown) => {
          const isInvisible = cause instanceof Problem && cause.code === 'not_found';
          throw isInvisible ? notFoundProblem({ noun: 'operation' }, operationId) : cause;
        });
        return { operationJson: JSON.stringify(operation) };
      },
    },
  );
}
